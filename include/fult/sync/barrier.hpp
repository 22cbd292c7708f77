/// @file
/// A barrier.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fult/detail/waiter.hpp>

namespace fult {
/// @cond internal
namespace detail {

// Waiters queue by the worker that they suspended on: they contend on one counter only, and are woken where
// their stacks are.
class FULT_API barrier_base {
  public:
    explicit barrier_base(std::ptrdiff_t expected);
    barrier_base(const barrier_base &) = delete;
    barrier_base &operator=(const barrier_base &) = delete;

    std::uint64_t phase() const noexcept { return phase_.load(std::memory_order_acquire); }
    // Returns true if this was the last arrival of the phase: the caller must then complete it.
    bool arrive(std::ptrdiff_t count, const char *call) noexcept;
    void drop() noexcept; // one participant fewer from the next phase on; called before the arrival

    void enqueue(waiter &self) noexcept; // called before its arrival
    // `barrier`, a barrier_base, is only used in reports: the object may be destroyed in the meantime.
    static void wait_enqueued(waiter &self, const void *barrier) noexcept;
    void complete(waiter *self) noexcept; // starts the next phase and grants all of this one
    void wait(std::uint64_t phase) noexcept;

  private:
    static constexpr unsigned free_queues = 8;
    struct alignas(cache_line) queue {
        spin_lock lock;
        wait_list list;
    };
    friend struct barrier_report;
    queue &queue_for(const waiter &w) noexcept;
    void push(queue &q, waiter &w) noexcept;

    alignas(cache_line) std::atomic<std::ptrdiff_t> pending_;
    alignas(cache_line) std::atomic<std::uint64_t> phase_{0};
    std::atomic<std::ptrdiff_t> expected_;
    std::atomic<std::uint32_t> used_{0}; // queues that have ever had a waiter
    queue queues_[free_queues + 1];      // the last one is for foreign threads and pinned tasks
};

struct no_completion {
    void operator()() const noexcept {}
};

} // namespace detail
/// @endcond

/// Lets a number of participants wait for each other repeatedly, as std::barrier does. The last one to arrive
/// runs the completion function; then all continue. Participants are tasks and foreign threads in any
/// mixture. A participant may destroy the barrier after its arrive_and_wait has returned, if no thread will
/// use it again and none called arrive and wait separately.
template <class Completion = detail::no_completion> class barrier {
    static_assert(std::is_nothrow_invocable_v<Completion &>, "the completion function must be noexcept");

  public:
    /// A phase to wait for, returned by arrive. Does not keep the barrier alive.
    class arrival_token {
      public:
        /// Takes over the phase. Movable only, since each arrival is waited for at most once.
        arrival_token(arrival_token &&) noexcept = default;
        /// The same.
        arrival_token &operator=(arrival_token &&) noexcept = default;

      private:
        friend class barrier;
        explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
        std::uint64_t phase_;
    };

    /// Creates a barrier for `expected` participants. Throws std::invalid_argument if expected < 1. Does not
    /// suspend.
    explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
        : completion_(std::move(completion)), base_(expected) {}

    /// The largest number of participants.
    static constexpr std::ptrdiff_t(max)() noexcept { return (std::numeric_limits<std::ptrdiff_t>::max)(); }

    /// Counts `count` arrivals, at least 1, in the current phase, which it returns. From any thread. Does not
    /// suspend (the completion function may). Ends the program if more arrive than are expected.
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) noexcept {
        arrival_token token(base_.phase());
        if (base_.arrive(count, "barrier::arrive")) {
            completion_();
            base_.complete(nullptr);
        }
        return token;
    }

    /// Waits until the phase of the token is complete. From any thread; may suspend.
    void wait(arrival_token &&token) const noexcept { base_.wait(token.phase_); }

    /// Arrives and waits until all participants have arrived. From any thread; may suspend. Ends the program
    /// if more arrive than are expected.
    void arrive_and_wait() noexcept {
        detail::waiter self{detail::wait_limits()};
        base_.enqueue(self);
        if (base_.arrive(1, "barrier::arrive_and_wait")) {
            completion_();
            base_.complete(&self);
        }
        detail::barrier_base::wait_enqueued(self, &base_);
    }

    /// Arrives and leaves the barrier from the next phase on. From any thread. Does not suspend (the
    /// completion function may).
    void arrive_and_drop() noexcept {
        base_.drop();
        if (base_.arrive(1, "barrier::arrive_and_drop")) {
            completion_();
            base_.complete(nullptr);
        }
    }

  private:
    [[no_unique_address]] Completion completion_;
    mutable detail::barrier_base base_;
};

} // namespace fult
