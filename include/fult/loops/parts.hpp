// What the loops share: the first error, the tasks that were split off, and who asks for work.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include <fult/spawn.hpp>

namespace fult::detail {

// The first exception of a loop. The others see that there is one, and begin nothing more.
class loop_errors {
  public:
    // For a handler: keeps the exception that is being handled, if it is the first.
    void fail() noexcept {
        if (!stopped_.exchange(true, std::memory_order_relaxed))
            error_ = std::current_exception();
    }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
    // Once all tasks of the loop are joined, which orders this after fail.
    void rethrow() {
        if (stopped()) [[unlikely]]
            std::rethrow_exception(std::move(error_));
    }

  private:
    std::atomic<bool> stopped_{false};
    std::exception_ptr error_;
};

// Whether the caller runs as a task; two loads.
FULT_ALWAYS_INLINE bool runs_as_task() noexcept { return current_worker()->current != nullptr; }

// Whether some worker looks for work, or sleeps for lack of it, and this one has not answered since.
FULT_ALWAYS_INLINE bool is_wanted() noexcept {
    return (current_worker()->attention.load(std::memory_order_relaxed) & hungry) != 0;
}

// Answers with tasks that this worker has already. Whether somebody asks still.
inline bool still_wanted() noexcept {
    attend(current_worker());
    return is_wanted();
}

// Tasks that one running part has split off, joined newest first: so those that nobody took run inline. A
// part halves what it has left with each, so there is room for all of them.
template <class Closure> class split_off {
  public:
    using task_type = decltype(spawn(std::declval<Closure>()));

    split_off() noexcept {}
    split_off(const split_off &) = delete;
    split_off &operator=(const split_off &) = delete;

    // Spawns it, which also publishes it for who asked. False: it could not be; then it is the caller's
    // still, and no more are tried.
    bool add(const Closure &closure) noexcept {
        if (full())
            return false;
        try {
            ::new (place(count_)) task_type(spawn(closure));
        } catch (...) { // no slot, or no memory
            room_ = 0;
            return false;
        }
        ++count_;
        return true;
    }

    bool full() const noexcept { return count_ >= room_; }

    // Joins them all, and hands each result over.
    template <class Take> void join(Take take) noexcept {
        while (count_ > 0) {
            task_type *last = place(--count_);
            take(*last);
            last->~task_type();
        }
    }

  private:
    static constexpr std::size_t most = std::numeric_limits<std::size_t>::digits;

    task_type *place(std::size_t i) noexcept {
        return std::launder(reinterpret_cast<task_type *>(places_ + i * sizeof(task_type)));
    }

    std::size_t count_ = 0;
    std::size_t room_ = most;
    alignas(task_type) std::byte places_[most * sizeof(task_type)]; // not cleared: mostly none is used
};

} // namespace fult::detail
