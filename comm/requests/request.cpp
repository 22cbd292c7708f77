#include <fult/comm/request.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>

#include "comm/device/describe.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm {
namespace detail {

void throw_failure(const operation &op, const char *call) {
    const std::string where = "fult-comm: " + std::string(call) + ": ";
    const std::string message = other_rank(op) + ", tag " + std::to_string(op.envelope.tag);
    switch (op.failure) {
    case errc::truncated:
        throw error(errc::truncated, where + "the message of " + message + " has " +
                                         std::to_string(static_cast<const receive &>(op).message_size) +
                                         " bytes, and the receive has room for " +
                                         std::to_string(static_cast<const receive &>(op).room) +
                                         "; receive it into a larger one, or probe first");
    case errc::peer_failed:
        if (op.envelope.source == any_source)
            throw error(errc::peer_failed, where + "every other rank has ended or cannot be reached; a "
                                                   "receive of this rank's own messages names this rank");
        throw error(errc::peer_failed, where + other_rank(op) + " has ended or cannot be reached");
    case errc::peer_left:
        throw error(errc::peer_left, where + describe_departure(op));
    case errc::cancelled:
        throw error(errc::cancelled, where + "the operation was cancelled");
    case errc::retry:
        throw error(errc::retry, where + "no memory for the message, here or at the receiver");
    case errc::refused:
        throw error(errc::refused, where + other_rank(op) +
                                       " has withdrawn the region, or never offered it so; let it end no "
                                       "earlier than what others do with it");
    case errc::none:
        break;
    }
}

void request_state::complete() noexcept {
    FULT_ASSERT(!is_complete(), "a request completes once");
    if (fult::detail::completion *ends =
            watcher.exchange(finished_mark(), std::memory_order_acq_rel)) // pairs with watch
        ends->end_one();
}

namespace {

// Target of all requests whose message was sent before isend returned: they need no state.
struct immediate_request final : request_state {
    immediate_request() noexcept { watcher.store(finished_mark(), std::memory_order_relaxed); }
};
immediate_request sent;

} // namespace

void request_pointer::prefetch(const request &r) noexcept {
    if (r.target_ && r.target_ != &sent)
        detail::prefetch(r.target_);
}

void drop(request_state *p) noexcept {
    if (!p || p == &sent || fult::detail::in_forked_child())
        return;
    if (!p->is_complete())
        fult::detail::misuse("request",
                             "destroyed before it was complete, while the message still uses its buffer; "
                             "wait for it, or cancel it and wait");
    delete p;
}

} // namespace detail

using detail::operation_kind;
using detail::request_state;

request::request(status envelope) noexcept : target_(&detail::sent), envelope_(envelope) {}

bool request::is_complete() const noexcept { return !target_ || target_->is_complete(); }

std::optional<status> request::test() {
    fult::detail::check_not_forked();
    if (!target_)
        return std::nullopt;
    if (!target_->is_complete()) {
        target_->device->progress_fairly();
        if (!target_->is_complete())
            return std::nullopt;
    }
    return wait();
}

// Waits until the target is complete. Gives it up; nullptr if the result is envelope_.
request_state *request::take() noexcept {
    fult::detail::check_not_forked();
    if (target_ && !target_->is_complete()) {
        fult::detail::completion end(1);
        if (target_->watch(end))
            target_->device->wait(end, *target_->op);
    }
    request_state *const p = std::exchange(target_, nullptr);
    FULT_ASSERT(!p || p->is_complete());
    if (p == &detail::sent)
        return nullptr;
    envelope_ = {};
    return p;
}

status request::wait() {
    const std::unique_ptr<request_state> done(take());
    if (!done)
        return envelope_;
    if (done->op->failure != errc::none)
        throw_failure(*done->op, "wait");
    return done->op->envelope;
}

status request::wait(errc &failure) noexcept {
    const std::unique_ptr<request_state> done(take());
    failure = done ? done->op->failure : errc::none;
    return done ? done->op->envelope : envelope_;
}

std::optional<status> request::test(errc &failure) noexcept {
    fult::detail::check_not_forked();
    failure = errc::none;
    if (target_ && !target_->is_complete()) {
        target_->device->progress_fairly();
        if (!target_->is_complete())
            return std::nullopt;
    }
    return wait(failure);
}

bool request::cancel() noexcept {
    fult::detail::check_not_forked();
    if (target_ && target_ != &detail::sent && target_->is_complete() &&
        target_->op->type == operation_kind::receive &&
        target_->op->failure == errc::peer_left) { // unmatched: for its caller it is still posted
        target_->op->failure = errc::cancelled;
        return true;
    }
    if (!target_ || target_->is_complete() || !target_->cancel())
        return false;
    target_->op->failure = errc::cancelled;
    target_->complete();
    return true;
}

namespace {

// Takes the results of requests that are complete. at(i) is the i-th one, or nullptr.
template <class At> void take_all(std::size_t count, const At &at) {
    constexpr std::size_t ahead = 4;
    std::exception_ptr first;
    for (std::size_t i = 0; i < count; ++i) {
        if (i + ahead < count && at(i + ahead))
            detail::request_pointer::prefetch(*at(i + ahead));
        try {
            if (request *each = at(i))
                each->wait();
        } catch (...) {
            if (!first)
                first = std::current_exception();
        }
    }
    if (first)
        std::rethrow_exception(first);
}

} // namespace

void wait_all(std::span<request> all) {
    detail::await_all(all.size(), [&](std::size_t i) { return all[i].target_; });
    take_all(all.size(), [&](std::size_t i) { return &all[i]; });
}

void detail::wait_all_of(std::span<request *const> all) {
    await_all_of(all);
    take_all(all.size(), [&](std::size_t i) { return all[i]; });
}

void detail::await_all_of(std::span<request *const> all) noexcept {
    detail::await_all(all.size(), [&](std::size_t i) { return all[i] ? all[i]->target_ : nullptr; });
}

std::size_t wait_any(std::span<request> all) {
    return detail::await_any(all.size(), [&](std::size_t i) { return all[i].target_; });
}

std::size_t detail::wait_any_of(std::span<request *const> all) {
    return detail::await_any(all.size(), [&](std::size_t i) { return all[i] ? all[i]->target_ : nullptr; });
}

} // namespace fult::comm
