#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <fult/comm/endpoint.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/endpoints/calls.hpp"
#include "comm/endpoints/maker.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm {

using namespace detail;

namespace {

// The child of a fork does not end what it shares with its parent.
union kept_in_child {
    std::shared_ptr<endpoint_state> state;
    explicit kept_in_child(std::shared_ptr<endpoint_state> &last) noexcept : state(std::move(last)) {}
    ~kept_in_child() {}
};

} // namespace

endpoint::endpoint(std::shared_ptr<endpoint_state> state) noexcept : state_(std::move(state)) {}
endpoint::endpoint(endpoint &&other) noexcept = default;
endpoint &endpoint::operator=(endpoint &&other) noexcept {
    if (this != &other) {
        endpoint gone(std::move(state_));
        state_ = std::move(other.state_);
    }
    return *this;
}
endpoint::~endpoint() {
    if (fult::detail::in_forked_child()) {
        const kept_in_child kept(state_);
        return;
    }
    if (state_ && state_.use_count() == 1 && state_->matches() && state_->waiting_receives() != 0)
        fult::detail::misuse("comm::endpoint",
                             "destroyed while receives wait on it; let them end, or cancel them");
}

int endpoint::rank() const noexcept { return state_ ? state_->rank : -1; }
int endpoint::size() const noexcept { return state_ ? state_->size : 0; }
int endpoint::world_rank(int rank) const noexcept {
    return state_ && rank >= 0 && rank < state_->size ? state_->world_rank(rank) : -1;
}

const char *endpoint::route_to(int rank) const {
    const endpoint_state &state = state_of(*this, "route_to");
    state.check_rank("route_to", rank);
    return state.device.route_name(state.world_rank(rank));
}

void endpoint::wrong_size(const status &got, std::size_t wanted) {
    throw std::length_error("fult-comm: recv: the message of rank " + std::to_string(got.source) + ", tag " +
                            std::to_string(got.tag) + " has " + std::to_string(got.size) + " bytes, not " +
                            std::to_string(wanted));
}

endpoint endpoint::subset(std::span<const int> members, std::int64_t tag, endpoint_options options) {
    const endpoint_state &parent = state_of(*this, "subset");
    FULT_ASSERT(parent.maker(), "endpoints of a context have one");
    return parent.maker()->make_subset(parent, members, tag, std::move(options));
}

namespace {

// True if the message has left, with the bytes copied.
bool send_at_once(endpoint_state &state, const void *data, std::size_t size, int destination,
                  std::uint32_t tag) {
    return state.device.send_now(state, state.world_rank(destination), tag, data, size);
}

} // namespace

void endpoint::send(const void *data, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "send");
    const std::uint32_t its_tag = state.check_destination("send", destination, tag);
    if (send_at_once(state, data, size, destination, its_tag))
        return;
    blocking_send(state, data, size, destination, its_tag).carry_out(state.device, "send");
}

void endpoint::send(const void *data, std::size_t size, int destination, std::int64_t tag,
                    errc &failure) noexcept {
    endpoint_state &state = state_of(*this, "send");
    const std::uint32_t its_tag = state.check_destination("send", destination, tag);
    failure = errc::none;
    try {
        if (send_at_once(state, data, size, destination, its_tag))
            return;
    } catch (const std::bad_alloc &) { // of a message to this rank itself
        failure = errc::retry;
        return;
    }
    failure = blocking_send(state, data, size, destination, its_tag).carry_out(state.device);
}

void endpoint::ssend(const void *data, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "ssend");
    const std::uint32_t its_tag = state.check_destination("ssend", destination, tag);
    blocking_send(state, data, size, destination, its_tag, true).carry_out(state.device, "ssend");
}

void endpoint::ssend(const void *data, std::size_t size, int destination, std::int64_t tag,
                     errc &failure) noexcept {
    endpoint_state &state = state_of(*this, "ssend");
    const std::uint32_t its_tag = state.check_destination("ssend", destination, tag);
    failure = blocking_send(state, data, size, destination, its_tag, true).carry_out(state.device);
}

status endpoint::recv(void *data, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "recv");
    state.check_source("recv", source, tag);
    blocking_receive r(state, data, size, source, tag);
    state.device.post(r);
    return r.result("recv");
}

status endpoint::recv(void *data, std::size_t size, int source, std::int64_t tag, errc &failure) noexcept {
    endpoint_state &state = state_of(*this, "recv");
    state.check_source("recv", source, tag);
    blocking_receive r(state, data, size, source, tag);
    state.device.post(r);
    return r.result(failure);
}

status endpoint::sendrecv(const void *out, std::size_t out_size, int destination, std::int64_t out_tag,
                          void *in, std::size_t in_size, int source, std::int64_t in_tag) {
    endpoint_state &state = state_of(*this, "sendrecv");
    state.check_destination("sendrecv", destination, out_tag);
    state.check_source("sendrecv", source, in_tag);
    blocking_receive r(state, in, in_size, source, in_tag);
    state.device.post(r);
    try {
        send(out, out_size, destination, out_tag);
    } catch (...) {
        if (!state.device.cancel(r))
            state.device.wait(r.done, r);
        throw;
    }
    return r.result("sendrecv");
}

request endpoint::isend(const void *data, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "isend");
    const std::uint32_t its_tag = state.check_destination("isend", destination, tag);
    if (send_at_once(state, data, size, destination, its_tag))
        return request(status{destination, its_tag, size});
    return begin_send(data, false, size, destination, tag, false, "isend");
}

request endpoint::issend(const void *data, std::size_t size, int destination, std::int64_t tag) {
    return begin_send(data, false, size, destination, tag, true, "issend");
}

request endpoint::begin_send(const void *data, bool scattered, std::size_t size, int destination,
                             std::int64_t tag, bool synchronous, const char *call) {
    endpoint_state &state = state_of(*this, call);
    const std::uint32_t its_tag = state.check_destination(call, destination, tag);
    auto s = std::make_unique<send_request>();
    s->device = &state.device;
    describe_send(*s, state, data, size, destination, its_tag);
    s->is_scattered = scattered;
    s->is_synchronous = synchronous;
    state.device.send(*s);
    return request(s.release());
}

request endpoint::irecv(void *data, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "irecv");
    state.check_source("irecv", source, tag);
    return begin_receive(std::make_unique<receive_request>(), state, data, size, source, tag, false);
}

bool endpoint::enqueue(const void *data, std::size_t size, int destination, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "enqueue");
    const std::uint32_t its_tag = state.check_destination("enqueue", destination, tag);
    const int to = state.world_rank(destination);
    if (state.device.has_failed(to))
        throw error(errc::peer_failed,
                    "fult-comm: enqueue: " + state.name_of(destination) + " has ended or cannot be reached");
    if (state.device.send_now(state, to, its_tag, data, size))
        return true;
    if (size <= state.device.eager_limit(to)) {
        state.device.progress_or_yield();
        return state.device.send_now(state, to, its_tag, data, size);
    }
    // A long message is copied and sent in the background, unless too many bytes are copied already.
    if (state.device.has_left(to)) {
        send_operation never;
        describe_send(never, state, data, size, destination, its_tag);
        never.envelope.source = destination;
        never.failure = errc::peer_left;
        throw_failure(never, "enqueue");
    }
    struct detached final : send_operation {
        std::unique_ptr<std::byte[]> bytes;
        std::atomic<std::size_t> *count = nullptr;
        // What one of so many bytes counts: with rendezvous = 1 each message that is not empty comes here.
        static std::size_t kept(std::size_t bytes) noexcept { return sizeof(detached) + bytes; }
        detached(const std::byte *state, std::size_t length) : bytes(new std::byte[length]) {
            std::memcpy(bytes.get(), state, length);
        }
        ~detached() { count->fetch_sub(kept(size), std::memory_order_relaxed); }
    };
    if (!state.device.flow().may_copy(detached::kept(size))) {
        state.device.progress_or_yield();
        return false;
    }
    auto s = std::make_unique<detached>(static_cast<const std::byte *>(data), size);
    s->is_copy = true;
    s->count = &state.device.flow().copied_bytes();
    describe_send(*s, state, s->bytes.get(), size, destination, its_tag);
    s->count->fetch_add(detached::kept(size), std::memory_order_relaxed);
    s->finished = [](operation &op, callback_queue *) noexcept { delete &static_cast<detached &>(op); };
    state.device.send(*s.release());
    return true;
}

std::optional<message> endpoint::dequeue() {
    endpoint_state &state = state_of(*this, "dequeue");
    if (state.options.delivery != delivery::queued)
        throw std::invalid_argument(
            "fult-comm: dequeue: the endpoint has no queue; make one with delivery::queued");
    if (auto first = state.dequeue())
        return first;
    state.device.progress_fairly();
    return state.dequeue();
}

} // namespace fult::comm
