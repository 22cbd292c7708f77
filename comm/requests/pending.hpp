// Target of a request's pointer, and waits for several requests at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <fult/comm/request.hpp>
#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/sync/waiter.hpp>

#include "comm/device/device.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/requests/request_memory.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// Throws the error of an operation that failed.
void throw_failure(const operation &op, const char *call);

// A wait for a number of requests, on the waiter's stack.
struct gathering {
    explicit gathering(std::size_t count) noexcept : left(count) {}
    void expect_one() noexcept { left.fetch_add(1, std::memory_order_relaxed); }
    // The last one grants. No caller touches this object afterwards.
    void one_came() noexcept {
        FULT_ASSERT(only_first || left.load(std::memory_order_relaxed) != 0, "as many came as were expected");
        if (only_first) {
            if (left.exchange(0, std::memory_order_acq_rel) == 1)
                all_came.grant();
            came.fetch_add(1, std::memory_order_release);
        } else if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            all_came.grant();
        }
    }
    // For the waiter, instead of one_came. Returns true if there is nothing to wait for.
    bool last_came() noexcept { return left.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    std::atomic<std::size_t> left;
    std::atomic<std::size_t> came{0}; // if only_first
    bool only_first = false;
    fult::detail::waiter all_came;
};

struct pending {
    device *on = nullptr;
    operation *what = nullptr;
    std::atomic<gathering *> watcher{nullptr}; // a gathering that waits; finished_mark() once it is complete

    pending() = default;
    pending(const pending &) = delete;
    pending &operator=(const pending &) = delete;
    virtual ~pending() = default;
    virtual void destroy() noexcept = 0;
    virtual bool cancel() noexcept = 0;

    static gathering *finished_mark() noexcept { return fult::detail::at_address<gathering>(1); }
    bool is_complete() const noexcept { return watcher.load(std::memory_order_acquire) == finished_mark(); }
    void complete() noexcept;
    // Returns false if it is complete already.
    bool watch(gathering &them) noexcept {
        FULT_ASSERT(&them != finished_mark());
        gathering *nobody = nullptr;
        return watcher.compare_exchange_strong(nobody, &them, std::memory_order_acq_rel);
    }
    // Returns false if it is complete, or about to be.
    bool unwatch(gathering &them) noexcept {
        gathering *it = &them;
        return watcher.compare_exchange_strong(it, nullptr, std::memory_order_acq_rel);
    }
};

struct alignas(64) pending_send : pending, sending {
    pending_send() noexcept {
        what = this;
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<pending_send &>(op).complete();
        };
    }
    void destroy() noexcept override { delete this; }
    bool cancel() noexcept override { return false; }
    static void *operator new(std::size_t) { return take_request_memory(); }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
static_assert(sizeof(pending_send) <= request_bytes && alignof(pending_send) <= 64);

struct alignas(64) pending_receive : pending, receive {
    pending_receive() noexcept {
        what = this;
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<pending_receive &>(op).complete();
        };
    }
    void destroy() noexcept override { delete this; }
    bool cancel() noexcept override { return on->cancel(*this); }
    static void *operator new(std::size_t) { return take_request_memory(); }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
static_assert(sizeof(pending_receive) <= request_bytes && alignof(pending_receive) <= 64);

// The fields of a request that a message or a wait accesses: its first two cache lines.
static_assert(sizeof(pending) + sizeof(wildcard_item) + sizeof(operation) + sizeof(void *) +
                  sizeof(std::size_t) <=
              128);
inline void prefetch(const void *request) noexcept {
    __builtin_prefetch(request, 1);
    __builtin_prefetch(static_cast<const char *>(request) + 64, 1);
}

// For library functions that know requests by their target.
struct request_pointer {
    static request of(pending *what) noexcept { return request(what); }
    static pending *target(const request &r) noexcept { return r.what_; }
    static pending *release(request &r) noexcept { return std::exchange(r.what_, nullptr); }
    // If it has an operation of its own.
    static void prefetch(const request &r) noexcept;
};

// Waits until all are complete. at(i) is the i-th one, or nullptr. Does not check their results. Suspends.
template <class At> void await_all(std::size_t count, const At &at) {
    const auto is_open = [&](std::size_t i) { return at(i) && !at(i)->is_complete(); };
    std::size_t first = 0;
    const auto pass_complete = [&] {
        while (first < count && !is_open(first))
            ++first;
        return first == count;
    };
    if (pass_complete())
        return;
    // While nothing else is ready they are polled, and no notification is needed.
    at(first)->on->engine().progress_until(pass_complete);
    if (first == count)
        return;
    gathering them(1); // one for this loop itself
    device *on = nullptr;
    for (std::size_t i = first; i < count; ++i)
        if (pending *each = at(i); each && !each->is_complete()) {
            them.expect_one();
            on = each->on;
            if (!each->watch(them))
                them.one_came();
        }
    if (!them.last_came() && on)
        on->wait(them.all_came);
}

// Waits until one is complete, and returns its index; `count` if all are nullptr. Suspends.
template <class At> std::size_t await_any(std::size_t count, const At &at) {
    const auto complete = [&] {
        std::size_t i = 0;
        while (i < count && !(at(i) && at(i)->is_complete()))
            ++i;
        return i;
    };
    gathering any(1);
    any.only_first = true;
    std::size_t watched = 0, found = complete();
    for (; found == count && watched < count; ++watched)
        if (at(watched) && !at(watched)->watch(any))
            found = watched;
    // A request whose message was sent at once is complete and has no device.
    device *on = nullptr;
    for (std::size_t i = 0; i < count && found == count; ++i)
        on = at(i) ? at(i)->on : on;
    if (found == count && !on)
        return count;
    if (found == count)
        on->wait(any.all_came);
    // Requests that could not be unwatched still access `any` when they complete.
    std::size_t coming = 0;
    for (std::size_t i = 0; i < watched; ++i)
        if (at(i) && i != found && !at(i)->unwatch(any))
            ++coming;
    fult::detail::spin_wait wait;
    while (any.came.load(std::memory_order_acquire) < coming)
        wait();
    return found < count ? found : complete();
}

} // namespace fult::comm::detail
