#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <fult/comm/endpoint.hpp>

#include "comm/endpoints/endpoint_state.hpp"
#include "comm/requests/pending.hpp"

namespace fult::comm {

using namespace detail;

error::~error() = default;

namespace {

// Blocking calls: the operation and the waiter lie on the task's stack.
struct alignas(64) blocking_receive final : receive {
    fult::detail::waiter done{fult::detail::waiter::as_it_comes{}};
    blocking_receive() noexcept {
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<blocking_receive &>(op).done.grant();
        };
    }
};

struct blocking_send final : sending {
    fult::detail::waiter done{fult::detail::waiter::as_it_comes{}};
    blocking_send() noexcept {
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<blocking_send &>(op).done.grant();
        };
    }
};

void describe(sending &s, const endpoint_state &from, const void *data, std::size_t size, int to,
              std::uint32_t tag) noexcept {
    s.data = data;
    s.size = size;
    s.rank = to;
    s.tag = tag;
    s.endpoint = from.id;
}

void describe(receive &r, endpoint_state &at, void *data, std::size_t size, int from,
              std::int64_t tag) noexcept {
    r.data = data;
    r.room = size;
    r.at = &at;
    r.endpoint = at.id;
    r.source = from;
    r.tag = tag;
}

endpoint_state &the(const std::shared_ptr<endpoint_state> &state, const char *call) {
    if (!state)
        throw std::invalid_argument("fult-comm: " + std::string(call) +
                                    ": the endpoint is empty (moved from?)");
    return *state;
}

std::vector<std::byte> gathered(std::span<const const_buffer> buffers) {
    std::size_t size = 0;
    for (const const_buffer &each : buffers)
        size += each.size;
    std::vector<std::byte> all(size);
    std::byte *at = all.data();
    for (const const_buffer &each : buffers) {
        if (each.size != 0)
            std::memcpy(at, each.data, each.size);
        at += each.size;
    }
    return all;
}

// A single contiguous part needs no copy.
template <class Part> const Part *only_one(std::span<const Part> parts) noexcept {
    const Part *found = nullptr;
    for (const Part &each : parts) {
        if (each.size != 0 && found)
            return nullptr;
        found = each.size != 0 ? &each : found;
    }
    return found;
}

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
    if (state_ && state_.use_count() == 1 && state_->matches() && state_->waiting_receives() != 0)
        fult::detail::misuse("comm::endpoint",
                             "destroyed while receives wait on it; let them end, or cancel them");
}

int endpoint::rank() const noexcept { return state_ ? state_->on.rank() : -1; }
int endpoint::size() const noexcept { return state_ ? state_->on.size() : 0; }

void endpoint::wrong_size(const status &got, std::size_t wanted) {
    throw std::length_error("fult-comm: recv: the message of rank " + std::to_string(got.source) + ", tag " +
                            std::to_string(got.tag) + " has " + std::to_string(got.size) + " bytes, not " +
                            std::to_string(wanted));
}

void endpoint::send(const void *data, std::size_t size, int destination, std::uint32_t tag) {
    endpoint_state &from = the(state_, "send");
    from.check_rank("send", destination);
    if (size <= from.on.eager_limit(destination) && from.on.send_now(from, destination, tag, data, size))
        return;
    blocking_send s;
    describe(s, from, data, size, destination, tag);
    from.on.send(s);
    from.on.wait(s.done, s);
    if (s.failure != errc::none)
        throw_failure(s, "send");
}

void endpoint::send(std::span<const const_buffer> buffers, int destination, std::uint32_t tag) {
    if (const const_buffer *one = only_one(buffers)) {
        send(one->data, one->size, destination, tag);
        return;
    }
    const std::vector<std::byte> all = gathered(buffers);
    send(all.data(), all.size(), destination, tag);
}

status endpoint::recv(void *data, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &at = the(state_, "recv");
    at.check_source("recv", source, tag);
    blocking_receive r;
    describe(r, at, data, size, source, tag);
    at.on.post(r);
    at.on.wait(r.done, r);
    if (r.failure != errc::none)
        throw_failure(r, "recv");
    return r.about;
}

status endpoint::recv(std::span<const mutable_buffer> buffers, int source, std::int64_t tag) {
    if (const mutable_buffer *one = only_one(buffers))
        return recv(one->data, one->size, source, tag);
    std::size_t size = 0;
    for (const mutable_buffer &each : buffers)
        size += each.size;
    std::vector<std::byte> all(size);
    const status got = recv(all.data(), size, source, tag);
    const std::byte *at = all.data();
    std::size_t left = got.size;
    for (const mutable_buffer &each : buffers) {
        const std::size_t length = std::min(each.size, left);
        if (length != 0)
            std::memcpy(each.data, at, length);
        at += length;
        left -= length;
    }
    return got;
}

status endpoint::sendrecv(const void *out, std::size_t out_size, int destination, std::uint32_t out_tag,
                          void *in, std::size_t in_size, int source, std::int64_t in_tag) {
    endpoint_state &at = the(state_, "sendrecv");
    at.check_rank("sendrecv", destination);
    at.check_source("sendrecv", source, in_tag);
    blocking_receive r;
    describe(r, at, in, in_size, source, in_tag);
    at.on.post(r);
    try {
        send(out, out_size, destination, out_tag);
    } catch (...) {
        if (!at.on.cancel(r))
            at.on.wait(r.done, r);
        throw;
    }
    at.on.wait(r.done, r);
    if (r.failure != errc::none)
        throw_failure(r, "sendrecv");
    return r.about;
}

request endpoint::isend(const void *data, std::size_t size, int destination, std::uint32_t tag) {
    endpoint_state &from = the(state_, "isend");
    from.check_rank("isend", destination);
    if (size <= from.on.eager_limit(destination) && from.on.send_now(from, destination, tag, data, size))
        return request(status{destination, tag, size});
    auto s = std::make_unique<pending_send>();
    s->on = &from.on;
    describe(*s, from, data, size, destination, tag);
    from.on.send(*s);
    return request(s.release());
}

request endpoint::irecv(void *data, std::size_t size, int source, std::int64_t tag) {
    endpoint_state &at = the(state_, "irecv");
    at.check_source("irecv", source, tag);
    auto r = std::make_unique<pending_receive>();
    r->on = &at.on;
    describe(*r, at, data, size, source, tag);
    at.on.post(*r);
    return request(r.release());
}

std::optional<status> endpoint::try_probe(int source, std::int64_t tag) {
    endpoint_state &at = the(state_, "try_probe");
    at.check_source("try_probe", source, tag);
    if (auto found = at.look(source, tag))
        return found;
    at.on.look();
    return at.look(source, tag);
}

status endpoint::probe(int source, std::int64_t tag) {
    endpoint_state &at = the(state_, "probe");
    at.check_source("probe", source, tag);
    for (;;) {
        const errc hopeless =
            at.on.peers().hopeless(source); // first: try_probe then finds all earlier messages
        if (const auto found = try_probe(source, tag))
            return *found;
        if (hopeless != errc::none) {
            receive never;
            describe(never, at, nullptr, 0, source, tag);
            never.about.source = source;
            never.failure = hopeless;
            throw_failure(never, "probe");
        }
        at.on.pause();
    }
}

bool endpoint::enqueue(const void *data, std::size_t size, int destination, std::uint32_t tag) {
    endpoint_state &from = the(state_, "enqueue");
    from.check_rank("enqueue", destination);
    if (from.on.has_failed(destination))
        throw error(errc::peer_failed, "fult-comm: enqueue: rank " + std::to_string(destination) +
                                           " has ended or cannot be reached");
    if (size <= from.on.eager_limit(destination)) {
        if (from.on.send_now(from, destination, tag, data, size))
            return true;
        from.on.look();
        return from.on.send_now(from, destination, tag, data, size);
    }
    // A long message is copied and sent in the background, unless too many bytes are copied already.
    if (from.on.has_left(destination)) {
        sending never;
        describe(never, from, data, size, destination, tag);
        never.about.source = destination;
        never.failure = errc::peer_left;
        throw_failure(never, "enqueue");
    }
    struct detached final : sending {
        std::unique_ptr<std::byte[]> bytes;
        std::atomic<std::size_t> *count = nullptr;
        ~detached() { count->fetch_sub(size, std::memory_order_relaxed); }
    };
    if (!from.on.flow().may_copy(size)) {
        from.on.look();
        return false;
    }
    auto s = std::make_unique<detached>();
    s->is_copy = true;
    s->count = &from.on.flow().copied();
    s->bytes.reset(new std::byte[size]);
    std::memcpy(s->bytes.get(), data, size);
    describe(*s, from, s->bytes.get(), size, destination, tag);
    s->count->fetch_add(size, std::memory_order_relaxed);
    s->finished = [](operation &op, callback_queue *) noexcept { delete &static_cast<detached &>(op); };
    from.on.send(*s.release());
    return true;
}

std::optional<message> endpoint::dequeue() {
    endpoint_state &at = the(state_, "dequeue");
    if (at.how.how != delivery::queued)
        throw std::invalid_argument(
            "fult-comm: dequeue: the endpoint has no queue; make one with delivery::queued");
    if (auto first = at.dequeue())
        return first;
    at.on.look();
    return at.dequeue();
}

} // namespace fult::comm
