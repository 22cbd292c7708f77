// Probes, and messages that they take out of matching.
#include <fult/comm/endpoint.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/misuse.hpp>

#include "comm/endpoints/calls.hpp"

namespace fult::comm {

using namespace detail;

namespace {

// Calls `find` until it returns something. Throws if no message can come any more.
template <class Find>
auto await_message(endpoint_state &state, const char *call, int source, std::int64_t tag, Find find) {
    for (;;) {
        const errc source_error =
            state.source_error(state.world_source(source)); // first: `find` then finds all earlier messages
        if (auto found = find())
            return std::move(*found);
        if (source_error != errc::none) {
            receive never;
            describe_receive(never, state, nullptr, 0, source, tag);
            never.envelope.source = source;
            never.failure = source_error;
            throw_failure(never, call);
        }
        state.device.pause();
    }
}

endpoint_state &state_of_message(endpoint_state *state, const char *call) {
    fult::detail::check_not_forked();
    if (!state)
        throw std::invalid_argument(
            std::string("fult-comm: ")
                .append(call)
                .append(": there is no message; it was received before, or moved from"));
    return *state;
}

} // namespace

std::optional<status> endpoint::try_probe(int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "try_probe");
    state.check_source("try_probe", source, tag);
    const int in_job = state.world_source(source);
    if (auto found = state.peek(in_job, tag))
        return found;
    state.device.progress_fairly();
    return state.peek(in_job, tag);
}

status endpoint::probe(int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "probe");
    state.check_source("probe", source, tag);
    return await_message(state, "probe", source, tag, [&] { return try_probe(source, tag); });
}

std::optional<matched_message> endpoint::try_mprobe(int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "try_mprobe");
    state.check_source("try_mprobe", source, tag);
    const int in_job = state.world_source(source);
    unexpected_message *found = state.take(in_job, tag);
    if (!found) {
        state.device.progress_fairly();
        found = state.take(in_job, tag);
    }
    if (!found)
        return std::nullopt;
    return matched_message(state_, found);
}

matched_message endpoint::mprobe(int source, std::int64_t tag) {
    endpoint_state &state = state_of(*this, "mprobe");
    state.check_source("mprobe", source, tag);
    return await_message(state, "mprobe", source, tag, [&] { return try_mprobe(source, tag); });
}

// Messages that were taken --------------------------------------------------------------------------------------------

matched_message::matched_message(std::shared_ptr<endpoint_state> at, unexpected_message *what) noexcept
    : at_(std::move(at)), what_(what), envelope_(at_->own(what->envelope)) {}
matched_message::matched_message(matched_message &&other) noexcept
    : at_(std::move(other.at_)), what_(std::exchange(other.what_, nullptr)), envelope_(other.envelope_) {}
matched_message &matched_message::operator=(matched_message &&other) noexcept {
    if (this != &other) {
        const matched_message gone(std::move(*this));
        at_ = std::move(other.at_);
        what_ = std::exchange(other.what_, nullptr);
        envelope_ = other.envelope_;
    }
    return *this;
}
matched_message::~matched_message() {
    if (what_ && !fult::detail::in_forked_child())
        fult::detail::misuse(
            "comm::matched_message",
            "destroyed before its message was received; receive it, or probe without taking it");
}

status matched_message::receive(void *to, bool scattered, std::size_t size) {
    endpoint_state &state = state_of_message(at_.get(), "matched_message::recv");
    blocking_receive r(state, to, size, envelope_.source, envelope_.tag, scattered);
    const std::shared_ptr<endpoint_state> keep = std::move(at_);
    state.device.post(r, *std::exchange(what_, nullptr));
    return r.result("matched_message::recv");
}

request matched_message::begin(void *to, bool scattered, std::size_t size) {
    endpoint_state &state = state_of_message(at_.get(), "matched_message::irecv");
    auto r = std::make_unique<receive_request>();
    r->device = &state.device;
    describe_receive(*r, state, to, size, envelope_.source, envelope_.tag);
    r->is_scattered = scattered;
    const std::shared_ptr<endpoint_state> keep = std::move(at_);
    state.device.post(*r, *std::exchange(what_, nullptr));
    return request_pointer::of(r.release());
}

status matched_message::recv(void *data, std::size_t size) { return receive(data, false, size); }
status matched_message::recv(message_target &to, std::size_t size) { return receive(&to, true, size); }
request matched_message::irecv(void *data, std::size_t size) { return begin(data, false, size); }
request matched_message::irecv(message_target &to, std::size_t size) { return begin(&to, true, size); }

status matched_message::recv(void *data, std::size_t size, errc &failure) noexcept {
    endpoint_state &state = state_of_message(at_.get(), "matched_message::recv");
    blocking_receive r(state, data, size, envelope_.source, envelope_.tag);
    const std::shared_ptr<endpoint_state> keep = std::move(at_);
    state.device.post(r, *std::exchange(what_, nullptr));
    return r.result(failure);
}

} // namespace fult::comm
