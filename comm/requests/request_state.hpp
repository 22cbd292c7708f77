// Target of a request's pointer, and waits for several requests at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <fult/comm/request.hpp>
#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/waiter.hpp>

#include "comm/device/device.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/requests/request_memory.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// Throws the error of an operation that failed.
void throw_failure(const operation &op, const char *call);

// A wait for a number of requests, on the waiter's stack.
struct request_wait {
    explicit request_wait(std::size_t count) noexcept : remaining(count) {}
    void add_one() noexcept { remaining.fetch_add(1, std::memory_order_relaxed); }
    // The last one grants. No caller touches this object afterwards.
    void count_down() noexcept {
        FULT_ASSERT(is_any || remaining.load(std::memory_order_relaxed) != 0,
                    "as many came as were expected");
        if (is_any) {
            if (remaining.exchange(0, std::memory_order_acq_rel) == 1)
                waiter.grant();
            completed_count.fetch_add(1, std::memory_order_release);
        } else if (remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            waiter.grant();
        }
    }
    // For the waiter, instead of count_down. Returns true if there is nothing to wait for.
    bool count_down_last() noexcept { return remaining.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    std::atomic<std::size_t> remaining;
    std::atomic<std::size_t> completed_count{0}; // if is_any
    bool is_any = false;
    fult::detail::waiter waiter;
};

struct request_state {
    detail::device *device = nullptr;
    operation *op = nullptr;
    std::atomic<request_wait *> watcher{
        nullptr}; // a wait that watches it; finished_mark() once it is complete

    request_state() = default;
    request_state(const request_state &) = delete;
    request_state &operator=(const request_state &) = delete;
    virtual ~request_state() = default;
    virtual void destroy() noexcept = 0;
    virtual bool cancel() noexcept = 0;

    static request_wait *finished_mark() noexcept { return fult::detail::at_address<request_wait>(1); }
    bool is_complete() const noexcept { return watcher.load(std::memory_order_acquire) == finished_mark(); }
    void complete() noexcept;
    // Returns false if it is complete already.
    bool watch(request_wait &wait) noexcept {
        FULT_ASSERT(&wait != finished_mark());
        request_wait *none = nullptr;
        return watcher.compare_exchange_strong(none, &wait, std::memory_order_acq_rel);
    }
    // Returns false if it is complete, or about to be.
    bool unwatch(request_wait &wait) noexcept {
        request_wait *expected = &wait;
        return watcher.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
    }
};

struct alignas(64) send_request : request_state, send_operation {
    send_request() noexcept {
        op = this;
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<send_request &>(op).complete();
        };
    }
    void destroy() noexcept override { delete this; }
    bool cancel() noexcept override { return false; }
    static void *operator new(std::size_t) { return take_request_memory(); }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
static_assert(sizeof(send_request) <= request_bytes && alignof(send_request) <= 64);

struct alignas(64) receive_request : request_state, receive {
    receive_request() noexcept {
        op = this;
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<receive_request &>(op).complete();
        };
    }
    void destroy() noexcept override { delete this; }
    bool cancel() noexcept override { return device->cancel(*this); }
    static void *operator new(std::size_t) { return take_request_memory(); }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
static_assert(sizeof(receive_request) <= request_bytes && alignof(receive_request) <= 64);

// The fields of a request that a message or a wait accesses: its first two cache lines.
static_assert(sizeof(request_state) + sizeof(wildcard_item) + sizeof(operation) + sizeof(void *) +
                  sizeof(std::size_t) <=
              128);
inline void prefetch(const void *request) noexcept {
    __builtin_prefetch(request, 1);
    __builtin_prefetch(static_cast<const char *>(request) + 64, 1);
}

// For library functions that know requests by their target.
struct request_pointer {
    static request of(request_state *target) noexcept { return request(target); }
    static request_state *target(const request &r) noexcept { return r.target_; }
    static request_state *release(request &r) noexcept { return std::exchange(r.target_, nullptr); }
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
    at(first)->device->engine().progress_until(pass_complete);
    if (first == count)
        return;
    request_wait wait(1); // one for this loop itself
    device *device = nullptr;
    for (std::size_t i = first; i < count; ++i)
        if (request_state *each = at(i); each && !each->is_complete()) {
            wait.add_one();
            device = each->device;
            if (!each->watch(wait))
                wait.count_down();
        }
    if (!wait.count_down_last() && device)
        device->wait(wait.waiter);
}

// Waits until one is complete, and returns its index; `count` if all are nullptr. Suspends.
template <class At> std::size_t await_any(std::size_t count, const At &at) {
    const auto complete = [&] {
        std::size_t i = 0;
        while (i < count && !(at(i) && at(i)->is_complete()))
            ++i;
        return i;
    };
    request_wait wait(1);
    wait.is_any = true;
    std::size_t watched = 0, found = complete();
    for (; found == count && watched < count; ++watched)
        if (at(watched) && !at(watched)->watch(wait))
            found = watched;
    // A request whose message was sent at once is complete and has no device.
    device *device = nullptr;
    for (std::size_t i = 0; i < count && found == count; ++i)
        device = at(i) ? at(i)->device : device;
    if (found == count && !device)
        return count;
    if (found == count)
        device->wait(wait.waiter);
    // Requests that could not be unwatched still access `wait` when they complete.
    std::size_t coming = 0;
    for (std::size_t i = 0; i < watched; ++i)
        if (at(i) && i != found && !at(i)->unwatch(wait))
            ++coming;
    fult::detail::spin_wait spin;
    while (wait.completed_count.load(std::memory_order_acquire) < coming)
        spin();
    return found < count ? found : complete();
}

} // namespace fult::comm::detail
