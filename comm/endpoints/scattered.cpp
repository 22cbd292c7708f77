// Messages in pieces.
#include <fult/comm/endpoint.hpp>

#include "comm/endpoints/calls.hpp"
#include "comm/endpoints/pieces.hpp"

namespace fult::comm {

using namespace detail;

namespace {

// Requests that have the object for their buffers in them.
struct pieces_send final : pending_send {
    pieces_source from;
    explicit pieces_send(std::span<const const_buffer> all) noexcept : from(all) {
        data = static_cast<const message_source *>(&from);
        is_scattered = true;
    }
    void destroy() noexcept override { delete this; }
    static void *operator new(std::size_t size) { return ::operator new (size, std::align_val_t{64}); }
    static void operator delete(void *memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }
};

struct pieces_receive final : pending_receive {
    pieces_target to;
    explicit pieces_receive(std::span<const mutable_buffer> all) noexcept : to(all) {
        data = static_cast<message_target *>(&to);
        is_scattered = true;
    }
    void destroy() noexcept override { delete this; }
    static void *operator new(std::size_t size) { return ::operator new (size, std::align_val_t{64}); }
    static void operator delete(void *memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }
};

// True if it is a short message of this rank to itself, which is copied so that the call need not wait for
// its receive.
bool is_copied(const endpoint_state &from, std::size_t size, int to, bool synchronous) noexcept {
    return !synchronous && to == from.rank && size <= from.on.eager_limit(from.on.rank());
}
void send_copy(endpoint_state &from, const message_source &bytes, std::size_t size, std::uint32_t tag) {
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    bytes.read(0, copy.get(), size);
    from.on.send_now(from, from.on.rank(), tag, copy.get(), size);
}

} // namespace

void endpoint::send(const message_source &from, std::size_t size, int destination, std::int64_t tag,
                    bool synchronous) {
    endpoint_state &at = state_of(*this, "send");
    const std::uint32_t its_tag = at.check_destination("send", destination, tag);
    if (is_copied(at, size, destination, synchronous)) {
        send_copy(at, from, size, its_tag);
        return;
    }
    blocking_send s;
    describe_send(s, at, &from, size, destination, its_tag);
    s.is_scattered = true;
    s.is_synchronous = synchronous;
    if (s.carry_out(at.on) != errc::none)
        throw_failure(s, "send");
}

request endpoint::isend(const message_source &from, std::size_t size, int destination, std::int64_t tag,
                        bool synchronous) {
    endpoint_state &at = state_of(*this, "isend");
    const std::uint32_t its_tag = at.check_destination("isend", destination, tag);
    if (is_copied(at, size, destination, synchronous)) {
        send_copy(at, from, size, its_tag);
        return request(status{destination, its_tag, size});
    }
    return begin_send(&from, true, size, destination, tag, synchronous, "isend");
}

status endpoint::recv(message_target &to, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &at = state_of(*this, "recv");
    at.check_source("recv", source, tag);
    blocking_receive r;
    describe_receive(r, at, &to, size, source, tag);
    r.is_scattered = true;
    at.on.post(r);
    return r.result("recv");
}

request endpoint::irecv(message_target &to, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &at = state_of(*this, "irecv");
    at.check_source("irecv", source, tag);
    auto r = std::make_unique<pending_receive>();
    r->on = &at.on;
    describe_receive(*r, at, &to, size, source, tag);
    r->is_scattered = true;
    at.on.post(*r);
    return request(r.release());
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
    endpoint_state &from = state_of(*this, "isend");
    const std::uint32_t its_tag = from.check_destination("isend", destination, tag);
    const std::size_t size = piece_cursor<const_buffer>::total(buffers);
    if (is_copied(from, size, destination, false)) {
        send_copy(from, pieces_source(buffers), size, its_tag);
        return request(status{destination, its_tag, size});
    }
    auto s = std::make_unique<pieces_send>(buffers);
    s->on = &from.on;
    describe_send(*s, from, s->data, size, destination, its_tag);
    from.on.send(*s);
    return request(s.release());
}

request endpoint::irecv(std::span<const mutable_buffer> buffers, int source, std::int64_t tag) {
    if (const mutable_buffer *one = only_one(buffers))
        return irecv(one->data, one->size, source, tag);
    endpoint_state &at = state_of(*this, "irecv");
    at.check_source("irecv", source, tag);
    auto r = std::make_unique<pieces_receive>(buffers);
    r->on = &at.on;
    describe_receive(*r, at, r->data, piece_cursor<mutable_buffer>::total(buffers), source, tag);
    at.on.post(*r);
    return request(r.release());
}

} // namespace fult::comm
