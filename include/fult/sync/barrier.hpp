// A barrier.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fult/sync/waiter.hpp>

namespace fult {
namespace detail {

// Waiters stand in one of several queues, by the worker that they suspended on, so that they meet on one
// counter only, and are woken where their stacks are.
class FULT_API barrier_base {
  public:
    explicit barrier_base(std::ptrdiff_t expected);
    barrier_base(const barrier_base &) = delete;
    barrier_base &operator=(const barrier_base &) = delete;

    std::uint64_t phase() const noexcept { return phase_.load(std::memory_order_acquire); }
    // Whether this was the last arrival of the phase: the caller completes it then.
    bool arrive(std::ptrdiff_t count, const char *call) noexcept;
    void drop() noexcept; // one fewer from the next phase on; before the arrival

    void stand_in_line(waiter &self) noexcept; // before its arrival
    // The barrier, a name to tell, may be gone meanwhile.
    static void wait_in_line(waiter &self, const void *barrier) noexcept;
    void complete(waiter *self) noexcept; // starts the next phase and grants all of this one
    void wait(std::uint64_t phase) noexcept;

  private:
    static constexpr unsigned free_queues = 8;
    struct alignas(cache_line) queue {
        short_lock lock;
        wait_list list;
    };
    queue &queue_for(const waiter &w) noexcept;
    void push(queue &q, waiter &w) noexcept;
    static void release(waiter *chain) noexcept;

    alignas(cache_line) std::atomic<std::ptrdiff_t> pending_;
    alignas(cache_line) std::atomic<std::uint64_t> phase_{0};
    std::atomic<std::ptrdiff_t> expected_;
    std::atomic<std::uint32_t> used_{0}; // queues that ever had a waiter
    queue queues_[free_queues + 1];      // the last one: foreign threads and pinned tasks
};

struct no_completion {
    void operator()() const noexcept {}
};

} // namespace detail

// Lets a number of participants wait for each other, again and again, as std::barrier does. The last one to
// arrive runs the completion function, then everybody goes on. Participants are tasks and foreign threads in
// any mixture. A participant may destroy the barrier after its arrive_and_wait has returned, if nobody will
// use it again and nobody called arrive and wait apart.
template <class Completion = detail::no_completion> class barrier {
    static_assert(std::is_nothrow_invocable_v<Completion &>, "the completion function must be noexcept");

  public:
    // A phase, to be waited for: what arrive returns. It keeps nothing alive.
    class arrival_token {
      public:
        // Takes the phase over. Movable only, as each arrival is waited for at most once.
        arrival_token(arrival_token &&) noexcept = default;
        // The same.
        arrival_token &operator=(arrival_token &&) noexcept = default;

      private:
        friend class barrier;
        explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
        std::uint64_t phase_;
    };

    // For so many participants; throws std::invalid_argument where they are fewer than 1. Does not suspend.
    explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
        : completion_(std::move(completion)), base_(expected) {}

    // The largest number of participants.
    static constexpr std::ptrdiff_t max() noexcept { return std::numeric_limits<std::ptrdiff_t>::max(); }

    // Counts as so many arrivals, at least 1, of the phase that it returns. From any thread. Does not suspend
    // (the completion function may). Ends the program where more arrive than are expected.
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) noexcept {
        arrival_token token(base_.phase());
        if (base_.arrive(count, "barrier::arrive")) {
            completion_();
            base_.complete(nullptr);
        }
        return token;
    }

    // Waits until the phase of the token is complete. From any thread; may suspend.
    void wait(arrival_token &&token) const noexcept { base_.wait(token.phase_); }

    // Both: arrives, and waits until all have. From any thread; may suspend. Ends the program where more
    // arrive than are expected.
    void arrive_and_wait() noexcept {
        detail::waiter self{detail::waiter::without_limits()};
        base_.stand_in_line(self);
        if (base_.arrive(1, "barrier::arrive_and_wait")) {
            completion_();
            base_.complete(&self);
        }
        detail::barrier_base::wait_in_line(self, this);
    }

    // Arrives, and is not expected any more from the next phase on. From any thread. Does not suspend (the
    // completion function may).
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
