// Messages in pieces.
#include <fult/comm/endpoint.hpp>

#include "comm/endpoints/calls.hpp"
#include "comm/endpoints/pieces.hpp"

namespace fult::comm {

using namespace detail;

namespace {

// Requests that have the object for their buffers in them.
struct pieces_send final : send_request {
    pieces_source from;
    explicit pieces_send(std::span<const const_buffer> all) noexcept : from(all) {
        data = static_cast<const message_source *>(&from);
        is_scattered = true;
    }
    static void *operator new(std::size_t size) { return ::operator new (size, std::align_val_t{64}); }
    static void operator delete(void *memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }
};

struct pieces_receive final : receive_request {
    pieces_target to;
    explicit pieces_receive(std::span<const mutable_buffer> all) noexcept : to(all) {
        data = static_cast<message_target *>(&to);
        is_scattered = true;
    }
    static void *operator new(std::size_t size) { return ::operator new (size, std::align_val_t{64}); }
    static void operator delete(void *memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }
};

// True if it is a short message of this rank to itself, which is copied so that the call need not wait for
// its receive.
bool is_copied(const endpoint_state &state, std::size_t size, int to) noexcept {
    return to == state.rank && size <= state.device.eager_limit(state.device.rank());
}
void send_copy(endpoint_state &state, const message_source &bytes, std::size_t size, std::uint32_t tag) {
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    bytes.read(0, copy.get(), size);
    state.device.send_now(state, state.device.rank(), tag, copy.get(), size);
}

} // namespace

void endpoint::send(const message_source &from, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "send");
    const std::uint32_t its_tag = state.check_destination("send", destination, tag);
    if (is_copied(state, size, destination))
        send_copy(state, from, size, its_tag);
    else
        blocking_send(state, &from, size, destination, its_tag, false, true).carry_out(state.device, "send");
}

void endpoint::ssend(const message_source &from, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "ssend");
    const std::uint32_t its_tag = state.check_destination("ssend", destination, tag);
    blocking_send(state, &from, size, destination, its_tag, true, true).carry_out(state.device, "ssend");
}

request endpoint::isend(const message_source &from, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "isend");
    const std::uint32_t its_tag = state.check_destination("isend", destination, tag);
    if (is_copied(state, size, destination)) {
        send_copy(state, from, size, its_tag);
        return request(status{destination, its_tag, size});
    }
    return begin_send(&from, true, size, destination, tag, false, "isend");
}

request endpoint::issend(const message_source &from, std::size_t size, int destination, std::int64_t tag) {
    return begin_send(&from, true, size, destination, tag, true, "issend");
}

status endpoint::recv(message_target &to, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "recv");
    state.check_source("recv", source, tag);
    blocking_receive r(state, &to, size, source, tag, true);
    state.device.post(r);
    return r.result("recv");
}

request endpoint::irecv(message_target &to, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "irecv");
    state.check_source("irecv", source, tag);
    return begin_receive(std::make_unique<receive_request>(), state, &to, size, source, tag, true);
}

// Spans of buffers ----------------------------------------------------------------------------------------------------

void endpoint::send(std::span<const const_buffer> buffers, int destination, std::int64_t tag) {
    if (const const_buffer *one = only_one(buffers)) {
        send(one->data, one->size, destination, tag);
        return;
    }
    send(pieces_source(buffers), piece_cursor<const_buffer>::total(buffers), destination, tag);
}

status endpoint::recv(std::span<const mutable_buffer> buffers, int source, std::int64_t tag) {
    if (const mutable_buffer *one = only_one(buffers))
        return recv(one->data, one->size, source, tag);
    pieces_target to(buffers);
    return recv(to, piece_cursor<mutable_buffer>::total(buffers), source, tag);
}

request endpoint::isend(std::span<const const_buffer> buffers, int destination, std::int64_t tag) {
    if (const const_buffer *one = only_one(buffers))
        return isend(one->data, one->size, destination, tag);
    endpoint_state &state = state_of(*this, "isend");
    const std::uint32_t its_tag = state.check_destination("isend", destination, tag);
    const std::size_t size = piece_cursor<const_buffer>::total(buffers);
    if (is_copied(state, size, destination)) {
        send_copy(state, pieces_source(buffers), size, its_tag);
        return request(status{destination, its_tag, size});
    }
    auto s = std::make_unique<pieces_send>(buffers);
    s->device = &state.device;
    describe_send(*s, state, s->data, size, destination, its_tag);
    state.device.send(*s);
    return request(s.release());
}

request endpoint::irecv(std::span<const mutable_buffer> buffers, int source, std::int64_t tag) {
    if (const mutable_buffer *one = only_one(buffers))
        return irecv(one->data, one->size, source, tag);
    endpoint_state &state = state_of(*this, "irecv");
    state.check_source("irecv", source, tag);
    auto r = std::make_unique<pieces_receive>(buffers);
    void *const to = r->data;
    return begin_receive(std::move(r), state, to, piece_cursor<mutable_buffer>::total(buffers), source, tag,
                         true);
}

} // namespace fult::comm
