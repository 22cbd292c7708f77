#include <fult/comm/request.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>

#include "comm/device/describe.hpp"
#include "comm/requests/pending.hpp"

namespace fult::comm {
namespace detail {

void throw_failure(const operation &op, const char *call) {
    const std::string where = "fult-comm: " + std::string(call) + ": ";
    const std::string message = other_rank(op) + ", tag " + std::to_string(op.about.tag);
    switch (op.failure) {
    case errc::truncated:
        throw error(errc::truncated, where + "the message of " + message + " has " +
                                         std::to_string(static_cast<const receive &>(op).offered) +
                                         " bytes, and the receive has room for " +
                                         std::to_string(static_cast<const receive &>(op).room) +
                                         "; receive it into a larger one, or probe first");
    case errc::peer_failed:
        if (op.about.source == any_source)
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

void pending::complete() noexcept {
    FULT_ASSERT(!is_complete(), "a request completes once");
    if (gathering *them = watcher.exchange(finished_mark(), std::memory_order_acq_rel)) // pairs with watch
        them->one_came();
}

namespace {

// Target of all requests whose message was sent before isend returned: they need no state.
struct sent_at_once final : pending {
    sent_at_once() noexcept { watcher.store(finished_mark(), std::memory_order_relaxed); }
    void destroy() noexcept override {}
    bool cancel() noexcept override { return false; }
};
sent_at_once sent;

} // namespace

void request_pointer::prefetch(const request &r) noexcept {
    if (r.what_ && r.what_ != &sent)
        detail::prefetch(r.what_);
}

void drop(pending *p) noexcept {
    if (!p || fult::detail::in_forked_child())
        return;
    if (!p->is_complete())
        fult::detail::misuse("request",
                             "destroyed before it was complete, while the message still uses its buffer; "
                             "wait for it, or cancel it and wait");
    p->destroy();
}

} // namespace detail

using detail::gathering;
using detail::operation_kind;
using detail::pending;

request::request(status about) noexcept : what_(&detail::sent), sent_(about) {}

bool request::is_complete() const noexcept { return !what_ || what_->is_complete(); }

std::optional<status> request::test() {
    fult::detail::check_not_forked();
    if (!what_)
        return std::nullopt;
    if (!what_->is_complete()) {
        what_->on->look_in_turn();
        if (!what_->is_complete())
            return std::nullopt;
    }
    return wait();
}

void request::await() const noexcept {
    pending &p = *what_;
    if (!p.is_complete()) {
        gathering one(1);
        if (p.watch(one))
            p.on->wait(one.all_came, *p.what);
    }
    FULT_ASSERT(p.is_complete() && p.what);
}

namespace {

struct destroyer {
    void operator()(pending *p) const noexcept { p->destroy(); }
};

} // namespace

status request::wait() {
    fult::detail::check_not_forked();
    if (!what_)
        return {};
    if (what_ == &detail::sent) {
        what_ = nullptr;
        return sent_;
    }
    await();
    const std::unique_ptr<pending, destroyer> owned(std::exchange(what_, nullptr));
    if (owned->what->failure != errc::none)
        throw_failure(*owned->what, "wait");
    return owned->what->about;
}

errc request::wait_status(status &about) noexcept {
    fult::detail::check_not_forked();
    about = status{};
    if (!what_)
        return errc::none;
    if (what_ == &detail::sent) {
        what_ = nullptr;
        about = sent_;
        return errc::none;
    }
    await();
    const std::unique_ptr<pending, destroyer> owned(std::exchange(what_, nullptr));
    about = owned->what->about;
    return owned->what->failure;
}

bool request::test_status(status &about, errc &failure) noexcept {
    fult::detail::check_not_forked();
    if (what_ && !what_->is_complete()) {
        what_->on->look_in_turn();
        if (!what_->is_complete())
            return false;
    }
    failure = wait_status(about);
    return true;
}

bool request::cancel() noexcept {
    fult::detail::check_not_forked();
    if (what_ && what_ != &detail::sent && what_->is_complete() &&
        what_->what->is_a == operation_kind::receive &&
        what_->what->failure == errc::peer_left) { // unmatched: for its caller it is still posted
        what_->what->failure = errc::cancelled;
        return true;
    }
    if (!what_ || what_->is_complete() || !what_->cancel())
        return false;
    what_->what->failure = errc::cancelled;
    what_->complete();
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
    detail::await_all(all.size(), [&](std::size_t i) { return all[i].what_; });
    take_all(all.size(), [&](std::size_t i) { return &all[i]; });
}

void detail::wait_all_of(std::span<request *const> all) {
    fult::comm::await_all(all);
    take_all(all.size(), [&](std::size_t i) { return all[i]; });
}

void await_all(std::span<request *const> all) noexcept {
    detail::await_all(all.size(), [&](std::size_t i) { return all[i] ? all[i]->what_ : nullptr; });
}

std::size_t wait_any(std::span<request> all) {
    return detail::await_any(all.size(), [&](std::size_t i) { return all[i].what_; });
}

std::size_t detail::wait_any_of(std::span<request *const> all) {
    return detail::await_any(all.size(), [&](std::size_t i) { return all[i] ? all[i]->what_ : nullptr; });
}

} // namespace fult::comm
