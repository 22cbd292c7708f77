// What a request points to, and how several of them are waited for at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <fult/comm/request.hpp>
#include <fult/sync/waiter.hpp>

#include "comm/device.hpp"
#include "comm/operation.hpp"
#include "comm/request_memory.hpp"

namespace fult::comm::detail {

// Throws what became of an operation that failed. A truncated one is a receive.
void throw_failure(const operation &op, const char *call);

// Somebody who waits for a number of requests. On its stack.
struct gathering {
    explicit gathering(std::size_t count) noexcept : left(count) {}
    void expect_one() noexcept { left.fetch_add(1, std::memory_order_relaxed); }
    // The last one grants; who is not the last touches nothing afterwards, nor does the last one.
    void one_came() noexcept {
        if (only_first) {
            if (left.exchange(0, std::memory_order_acq_rel) == 1)
                all_came.grant();
            came.fetch_add(1, std::memory_order_release);
        } else if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            all_came.grant();
        }
    }
    // For who waits: instead of one_came. Whether there is nothing to wait for.
    bool last_came() noexcept { return left.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    std::atomic<std::size_t> left;
    std::atomic<std::size_t> came{0}; // where only the first one counts
    bool only_first = false;
    fult::detail::waiter all_came;
};

// How the operation of a request ends: watcher is who waits for it, and finished_mark() once it is complete.
inline gathering *finished_mark() noexcept { return reinterpret_cast<gathering *>(1); }
inline bool is_complete(const operation &op) noexcept {
    return op.watcher.load(std::memory_order_acquire) == finished_mark();
}
void complete(operation &op) noexcept;
// False: it is complete already.
inline bool watch(operation &op, gathering &them) noexcept {
    gathering *nobody = nullptr;
    return op.watcher.compare_exchange_strong(nobody, &them, std::memory_order_acq_rel);
}
// False: it is complete, or about to be.
inline bool unwatch(operation &op, gathering &them) noexcept {
    gathering *it = &them;
    return op.watcher.compare_exchange_strong(it, nullptr, std::memory_order_acq_rel);
}

struct pending_send final : sending {
    explicit pending_send(device &device) noexcept : on(device) {
        use = operation::purpose::send;
        finished = complete;
    }
    device &on;
    static void *operator new(std::size_t) { return take_request_memory(); }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
static_assert(sizeof(pending_send) <= request_bytes && alignof(pending_send) <= 64);

struct pending_receive final : receive {
    pending_receive() noexcept {
        use = operation::purpose::receive;
        finished = complete;
    }
    static void *operator new(std::size_t) { return take_request_memory(); }
    static void operator delete(void *memory) noexcept { give_request_memory(memory); }
};
static_assert(sizeof(pending_receive) <= request_bytes && alignof(pending_receive) <= 64);

} // namespace fult::comm::detail
