// Shared by the loops: the first error, the tasks that were split off, and work requests.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/spawn.hpp>

namespace fult::detail {

// The first exception of a loop. Other parts see that there is one, and begin nothing more.
class loop_errors {
  public:
    // Called in a handler: stores the exception that is being handled, if it is the first.
    void fail() noexcept {
        if (!stopped_.exchange(true, std::memory_order_relaxed))
            error_ = std::current_exception();
    }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
    // Called after all tasks of the loop have been joined, which orders it after fail.
    void rethrow() {
        if (stopped()) [[unlikely]]
            std::rethrow_exception(std::move(error_));
    }

  private:
    std::atomic<bool> stopped_{false};
    std::exception_ptr error_;
};

// Counts a loop like an inline join: a row of them ends with a turn for other tasks. On a task only. May
// suspend.
FULT_ALWAYS_INLINE void count_loop() noexcept {
    worker_hot *const w = current_worker();
    count_in_row(w);
    if (is_stack_low(w)) [[unlikely]]
        end_row();
}

// True if a worker has requested work and this worker has not handled the request yet.
FULT_ALWAYS_INLINE bool work_is_requested() noexcept {
    return (current_worker()->request_flags.load(std::memory_order_relaxed) & work_requested) != 0;
}

// Handles the request with private tasks that this worker has already. Returns true if the request is still
// set.
inline bool work_still_requested() noexcept {
    poll_requests(current_worker());
    return work_is_requested();
}

// The tasks that a running part has split off, joined newest first so that those that were not stolen run
// inline. Each split halves the rest of the part, so the storage is sufficient.
template <class Closure> class split_off {
  public:
    using task_type = decltype(spawn(std::declval<Closure>()));

    split_off() noexcept {}
    split_off(const split_off &) = delete;
    split_off &operator=(const split_off &) = delete;

    // Spawns a task, which also publishes it if work is requested. Returns false on failure: the closure is
    // left to the caller, and no further spawns are tried.
    bool add(const Closure &closure) noexcept {
        if (full())
            return false;
        FULT_TRY { ::new (storage_at(count_)) task_type(spawn(closure)); }
        FULT_CATCH_ALL { // no slot, or no memory
            room_ = 0;
            return false;
        }
        ++count_;
        return true;
    }

    bool full() const noexcept { return count_ >= room_; }

    // Joins all tasks and passes each one to `take`.
    template <class Take> void join(Take take) noexcept {
        while (count_ > 0) {
            task_type *last = storage_at(--count_);
            take(*last);
            last->~task_type();
        }
    }

  private:
    static constexpr std::size_t most = std::numeric_limits<std::size_t>::digits;

    task_type *storage_at(std::size_t i) noexcept {
        return std::launder(reinterpret_cast<task_type *>(storage_ + i * sizeof(task_type)));
    }

    std::size_t count_ = 0;
    std::size_t room_ = most;
    alignas(task_type) std::byte storage_[most * sizeof(task_type)]; // not cleared: mostly unused
};

} // namespace fult::detail
