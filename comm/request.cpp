#include <algorithm>

#include <fult/comm/request.hpp>

#include "comm/endpoint_state.hpp"
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
                                         std::to_string(static_cast<const receive &>(op).offered) +
                                         " bytes, and the receive has room for " +
                                         std::to_string(static_cast<const receive &>(op).room) +
                                         "; receive it into a larger one, or probe first");
    case errc::peer_failed:
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

void complete(operation &op) noexcept {
    if (gathering *them = op.watcher.exchange(finished_mark(), std::memory_order_acq_rel)) // pairs with watch
        them->one_came();
}

namespace {

// What all requests point to whose message had left when isend returned: nothing is to be kept of it.
struct sent_at_once : operation {
    sent_at_once() noexcept { watcher.store(finished_mark(), std::memory_order_relaxed); }
};
sent_at_once sent;

device &device_of(operation &op) noexcept {
    return op.use == operation::purpose::receive ? static_cast<receive &>(op).at->on
                                                 : static_cast<pending_send &>(op).on;
}

void destroy(operation *op) noexcept {
    if (op->use == operation::purpose::receive)
        delete static_cast<pending_receive *>(op);
    else if (op->use == operation::purpose::send)
        delete static_cast<pending_send *>(op);
}

} // namespace

void drop(operation *op) noexcept {
    if (!op)
        return;
    if (!is_complete(*op))
        fult::detail::misuse("request",
                             "destroyed before it was complete, while the message still uses its buffer; "
                             "wait for it, or cancel it and wait");
    destroy(op);
}

} // namespace detail

using namespace detail;

request::request(const status &about) noexcept : what_(&sent), sent_(about) {}

std::optional<status> request::test() {
    if (!what_)
        return std::nullopt;
    if (!is_complete(*what_)) {
        device_of(*what_).progress();
        if (!is_complete(*what_))
            return std::nullopt;
    }
    return wait();
}

status request::wait() {
    operation *op = what_;
    if (!op)
        return {};
    if (op == &sent) {
        what_ = nullptr;
        return sent_;
    }
    if (!is_complete(*op)) {
        gathering one(1);
        if (watch(*op, one))
            device_of(*op).wait(one.all_came);
    }
    what_ = nullptr;
    struct owner {
        operation *op;
        ~owner() { destroy(op); }
    } const owned{op};
    if (op->failure != errc::none)
        throw_failure(*op, "wait");
    return op->about;
}

bool request::cancel() noexcept {
    if (!what_ || is_complete(*what_) || what_->use != operation::purpose::receive ||
        !device_of(*what_).cancel(static_cast<receive &>(*what_)))
        return false;
    what_->failure = errc::cancelled;
    complete(*what_);
    return true;
}

void wait_all(std::span<request> all) {
    const auto is_open = [](const request &each) { return each.what_ && !is_complete(*each.what_); };
    auto first_open = std::find_if(all.begin(), all.end(), is_open);
    // While there is nothing else to do, nobody need tell: they are looked at.
    if (first_open != all.end())
        device_of(*first_open->what_).progress_until([&] {
            first_open = std::find_if(first_open, all.end(), is_open);
            return first_open == all.end();
        });
    if (first_open != all.end()) {
        gathering them(1); // one for this loop itself
        operation *last = nullptr;
        for (auto each = first_open; each != all.end(); ++each)
            if (is_open(*each)) {
                them.expect_one();
                last = each->what_;
                if (!watch(*last, them))
                    them.one_came();
            }
        if (!them.last_came())
            device_of(*last).wait(them.all_came);
    }
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
        while (i < all.size() && !(all[i].what_ && is_complete(*all[i].what_)))
            ++i;
        return i;
    };
    gathering any(1);
    any.only_first = true;
    std::size_t watched = 0, found = complete();
    for (; found == all.size() && watched < all.size(); ++watched)
        if (all[watched].what_ && !watch(*all[watched].what_, any))
            found = watched;
    operation *one = nullptr;
    for (const request &each : all)
        one = each.what_ ? each.what_ : one;
    if (!one)
        return all.size();
    if (found == all.size())
        device_of(*one).wait(any.all_came);
    // Whoever completes one that could not be taken back still looks at `any`.
    std::size_t coming = 0;
    for (std::size_t i = 0; i < watched; ++i)
        if (all[i].what_ && i != found && !unwatch(*all[i].what_, any))
            ++coming;
    while (any.came.load(std::memory_order_acquire) < coming)
        fult::detail::cpu_relax();
    return found < all.size() ? found : complete();
}

} // namespace fult::comm
