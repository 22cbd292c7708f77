#include <fult/comm/request.hpp>

#include "comm/pending.hpp"

namespace fult::comm {
namespace detail {

void throw_failure(const operation &op, const char *call) {
    const std::string where = "fult-comm: " + std::string(call) + ": ";
    const std::string message =
        "rank " + std::to_string(op.about.source) + ", tag " + std::to_string(op.about.tag);
    switch (op.failure) {
    case errc::truncated:
        throw error(errc::truncated, where + "the message of " + message + " has " +
                                         std::to_string(op.offered) +
                                         " bytes, and the receive has room for " +
                                         std::to_string(static_cast<const receive &>(op).room) +
                                         "; receive it into a larger one, or probe first");
    case errc::peer_failed:
        if (op.about.source == any_source)
            throw error(errc::peer_failed, where + "every other rank has ended or cannot be reached; a "
                                                   "receive of this rank's own messages names this rank");
        throw error(errc::peer_failed,
                    where + "rank " + std::to_string(op.about.source) + " has ended or cannot be reached");
    case errc::cancelled:
        throw error(errc::cancelled, where + "the operation was cancelled");
    case errc::retry:
        throw error(errc::retry, where + "no memory for the message, here or at the receiver");
    case errc::none:
        break;
    }
}

void pending::complete() noexcept {
    if (gathering *them = watcher.exchange(finished_mark(), std::memory_order_acq_rel)) // pairs with watch
        them->one_came();
}

void drop(pending *p) noexcept {
    if (!p)
        return;
    if (!p->is_complete())
        fult::detail::misuse("request",
                             "destroyed before it was complete, while the message still uses its buffer; "
                             "wait for it, or cancel it and wait");
    p->destroy();
}

} // namespace detail

using detail::gathering;
using detail::pending;

std::optional<status> request::test() {
    if (!what_)
        return std::nullopt;
    if (!what_->is_complete()) {
        what_->on->progress();
        if (!what_->is_complete())
            return std::nullopt;
    }
    return wait();
}

status request::wait() {
    pending *p = what_;
    if (!p)
        return {};
    if (!p->is_complete()) {
        gathering one(1);
        if (p->watch(one))
            p->on->wait(one.all_came);
    }
    what_ = nullptr;
    struct owner {
        pending *p;
        ~owner() { p->destroy(); }
    } const owned{p};
    if (p->what->failure != errc::none)
        throw_failure(*p->what, "wait");
    return p->what->about;
}

bool request::cancel() noexcept {
    if (!what_ || what_->is_complete() || !what_->cancel())
        return false;
    what_->what->failure = errc::cancelled;
    what_->complete();
    return true;
}

void wait_all(std::span<request> all) {
    gathering them(1); // one for this loop itself
    detail::device *on = nullptr;
    for (const request &each : all)
        if (each.what_ && !each.what_->is_complete()) {
            them.expect_one();
            on = each.what_->on;
            if (!each.what_->watch(them))
                them.one_came();
        }
    if (!them.last_came() && on)
        on->wait(them.all_came);
    std::exception_ptr first;
    for (request &each : all) {
        try {
            each.wait();
        } catch (...) {
            if (!first)
                first = std::current_exception();
        }
    }
    if (first)
        std::rethrow_exception(first);
}

std::size_t wait_any(std::span<request> all) {
    const auto complete = [&] {
        std::size_t i = 0;
        while (i < all.size() && !(all[i].what_ && all[i].what_->is_complete()))
            ++i;
        return i;
    };
    gathering any(1);
    any.only_first = true;
    std::size_t watched = 0, found = complete();
    for (; found == all.size() && watched < all.size(); ++watched)
        if (all[watched].what_ && !all[watched].what_->watch(any))
            found = watched;
    detail::device *on = nullptr;
    for (const request &each : all)
        on = each.what_ ? each.what_->on : on;
    if (!on)
        return all.size();
    if (found == all.size())
        on->wait(any.all_came);
    // Whoever completes one that could not be taken back still looks at `any`.
    std::size_t coming = 0;
    for (std::size_t i = 0; i < watched; ++i)
        if (all[i].what_ && i != found && !all[i].what_->unwatch(any))
            ++coming;
    while (any.came.load(std::memory_order_acquire) < coming)
        fult::detail::cpu_relax();
    return found < all.size() ? found : complete();
}

} // namespace fult::comm
