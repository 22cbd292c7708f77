// Target of a request's pointer, and waits for several requests at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fult/comm/request.hpp>
#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/completion.hpp>

#include "comm/device/device.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/requests/request_memory.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// Throws the error of an operation that failed.
void throw_failure(const operation &op, const char *call);

struct request_state {
    detail::device *device = nullptr;
    operation *op = nullptr;
    std::atomic<fult::detail::completion *> watcher{
        nullptr}; // of the wait that watches it; finished_mark() once it is complete

    request_state() = default;
    request_state(const request_state &) = delete;
    request_state &operator=(const request_state &) = delete;
    virtual ~request_state() = default;
    virtual bool cancel() noexcept { return false; }

    static fult::detail::completion *finished_mark() noexcept {
        return fult::detail::at_address<fult::detail::completion>(1);
    }
    bool is_complete() const noexcept { return watcher.load(std::memory_order_acquire) == finished_mark(); }
    void complete() noexcept;
    // Returns false if it is complete already.
    bool watch(fult::detail::completion &ends) noexcept {
        FULT_ASSERT(&ends != finished_mark());
        fult::detail::completion *none = nullptr;
        return watcher.compare_exchange_strong(none, &ends, std::memory_order_acq_rel);
    }
    // Returns false if it is complete, or about to be.
    bool unwatch(fult::detail::completion &ends) noexcept {
        fult::detail::completion *expected = &ends;
        return watcher.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
    }
};

template <class Operation> struct alignas(64) operation_request : request_state, Operation {
    operation_request() noexcept {
        op = this;
        this->finished = [](operation &op, callback_queue *) noexcept {
            static_cast<operation_request &>(op).complete();
        };
    }
    static void *operator new(std::size_t) {
        static_assert(sizeof(operation_request) <= request_bytes && alignof(operation_request) <= 64);
        return take_request_memory();
    }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
using send_request = operation_request<send_operation>;
struct receive_request : operation_request<receive> {
    bool cancel() noexcept override { return device->cancel(*this); }
};

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

inline constexpr fult::detail::waiting_for open_requests{"requests"};

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
    fult::detail::completion ends;
    device *device = nullptr;
    for (std::size_t i = first; i < count; ++i)
        if (request_state *each = at(i); each && !each->is_complete()) {
            ends.add_one();
            device = each->device;
            if (!each->watch(ends))
                ends.end_one();
        }
    if (device)
        device->wait(ends, open_requests);
}

// Waits until one is complete, and returns its index; `count` if all are nullptr. Suspends.
template <class At> std::size_t await_any(std::size_t count, const At &at) {
    const auto complete = [&] {
        std::size_t i = 0;
        while (i < count && !(at(i) && at(i)->is_complete()))
            ++i;
        return i;
    };
    fult::detail::completion first_end(1);
    std::size_t watched = 0, found = complete();
    std::int64_t coming = 0; // requests that have ended it, or will
    for (; found == count && watched < count; ++watched) {
        request_state *const each = at(watched);
        if (each && each->watch(first_end))
            ++coming;
        else if (each && each->is_complete()) // if not, it is there twice
            found = watched;
    }
    // A request whose message was sent at once is complete and has no device.
    device *device = nullptr;
    for (std::size_t i = 0; i < count && found == count; ++i)
        device = at(i) ? at(i)->device : device;
    if (found == count && !device)
        return count;
    if (found == count)
        device->wait(first_end, open_requests);
    for (std::size_t i = 0; i < watched; ++i)
        coming -= at(i) && at(i)->unwatch(first_end);
    // Until no request uses it; one end was outstanding from the start.
    first_end.wait(open_requests, coming - 1);
    return found < count ? found : complete();
}

} // namespace fult::comm::detail
