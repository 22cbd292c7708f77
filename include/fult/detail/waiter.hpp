// The basis of fult::sync: a waiter on the waiting task's or thread's stack, and queues of waiters. Internal
// to the library.
//
// Every waiter waits for its own grant: the granting thread removes it from its queue first. No other signal,
// nor the end of a child, is mistaken for the grant.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/deadline.hpp>
#include <fult/detail/layout.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/platform.hpp>
#include <fult/detail/spin_lock.hpp>
#include <fult/detail/wait_record.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

class worker;
struct task;

// The limits of a wait: a deadline, a stop token, both, or (by default) neither.
class FULT_API wait_limits {
  public:
    wait_limits() noexcept = default;
    // Throws std::system_error if the memory or the descriptor for a runtime's first timed wait cannot be
    // allocated.
    explicit wait_limits(steady_clock::time_point deadline);
    explicit wait_limits(const std::stop_token &stop) noexcept : stop_(&stop) {}
    wait_limits(const std::stop_token &stop, steady_clock::time_point deadline);

    bool none() const noexcept { return !timed_ && !stop_; }
    bool timed() const noexcept { return timed_; }
    steady_clock::time_point deadline() const noexcept { return deadline_; }
    const std::stop_token *stop() const noexcept { return stop_; }
    // True if the wait must end.
    bool reached() const noexcept {
        return (stop_ && stop_->stop_requested()) || (timed_ && steady_clock::now() >= deadline_);
    }

  private:
    bool timed_ = false;
    steady_clock::time_point deadline_{};
    const std::stop_token *stop_ = nullptr;
};

// One wait of a task or of a foreign thread. Its state goes from polling or suspended to granted, once, and
// back and forth between polling, suspended and at_bell before that. Lives on the waiting stack. The granting
// thread must have removed it from its queue before, and must not touch it afterwards.
class FULT_API waiter {
  public:
    waiter() noexcept;
    // For a wait within these limits. Without limits, only its grant changes the state of a suspended waiter,
    // and the granting thread need not compare.
    explicit waiter(const wait_limits &limits) noexcept : waiter() {
        stays_ = limits.none() && state_.load(std::memory_order_relaxed) == suspended;
    }
    // For a waiter that may be granted at once; otherwise it checks itself whether other tasks are ready.
    struct as_it_comes {};
    explicit waiter(as_it_comes) noexcept;
    waiter(const waiter &) = delete;
    waiter &operator=(const waiter &) = delete;

    // Waits for the grant. A task suspends, a foreign thread blocks. `what` is shown in reports.
    void wait(const waiting_for &what = {}) noexcept;
    // The same without polling for the grant first: if other tasks are known to be ready.
    void wait_at_once(const waiting_for &what = {}) noexcept;
    // Like wait, within limits. Returns false if they were reached before the grant.
    bool wait(const wait_limits &limits, const waiting_for &what = {});
    // The same for a wait that is rarely short: suspends without polling.
    bool wait_long(const wait_limits &limits, const waiting_for &what = {});

    // Ends the wait. Everything written before is visible to the waiter.
    void grant() noexcept;
    // The same if the task should run at the caller's next suspension: it then runs on this worker.
    void grant_next() noexcept;
    // The same; the caller, on that worker, must run the returned task or hand it off.
    task *grant_claimed(worker *here) noexcept;
    // Called by the waiting thread itself: no grant is needed any more.
    void grant_itself() noexcept { state_.store(granted, std::memory_order_relaxed); }
    // True if it will not poll, since its worker had other tasks.
    bool is_suspended() const noexcept { return state_.load(std::memory_order_relaxed) == suspended; }
    bool is_granted() const noexcept { return state_.load(std::memory_order_acquire) == granted; }

    // Makes the waiter check its limits again. The caller ensures that it is still waiting.
    void nudge() noexcept;

    // True if any worker may run it: a task that is not pinned.
    bool is_free_task() const noexcept { return who_ && !is_pinned(who_); }
    // True if it is a task without limits: only its grant ends the wait.
    bool stays() const noexcept { return stays_; }

    // For the queue's lock ----------------------------------------------------------------------------------
    waiter *next = nullptr;
    waiter *previous = nullptr;
    bool queued = false;     // in a queue; after its removal a grant is on its way
    std::uintptr_t tag = 0;  // for the owner of the queue
    void *subject = nullptr; // the value to pass, or its destination

  private:
    friend class wait_chain;
    class on_thread;
    enum : std::uint32_t {
        polling,
        suspended,
        granted,
        at_bell // suspended, for a foreign thread that is the watcher (fult/scheduler/thread_waits.hpp)
    };

    explicit waiter(worker *here) noexcept;
    bool poll() noexcept;
    bool granted_after_yield() noexcept;
    bool suspend_until_granted(const wait_limits &limits, const waiting_for &what) noexcept;
    std::uint32_t change_to_granted() noexcept;
    void wait_on_thread(const steady_clock::time_point *deadline) noexcept;
    void wake_up(task_id who, std::uint32_t was) noexcept;

    std::atomic<std::uint32_t> state_{polling};
    std::atomic<bool> nudged_{false};
    bool stays_ = false; // suspended until it is granted
    const task_id who_;  // empty: a foreign thread, which sleeps on state_
};

// A first-in, first-out queue, under its owner's lock.
class wait_list {
  public:
    bool empty() const noexcept { return first_ == nullptr; }
    waiter *first() const noexcept { return first_; }

    void push(waiter &w) noexcept {
        FULT_ASSERT(!w.queued && !w.is_granted(),
                    "a waiter is in one queue, and is granted after it was removed");
        FULT_ASSERT((first_ == nullptr) == (last_ == nullptr));
        w.queued = true;
        w.next = nullptr;
        w.previous = last_;
        (last_ ? last_->next : first_) = &w;
        last_ = &w;
    }
    void remove(waiter &w) noexcept {
        FULT_ASSERT(w.queued && (w.previous ? w.previous->next : first_) == &w,
                    "the waiter is in this queue");
        FULT_ASSERT((w.next ? w.next->previous : last_) == &w);
        w.queued = false;
        (w.previous ? w.previous->next : first_) = w.next;
        (w.next ? w.next->previous : last_) = w.previous;
    }
    // The first waiter, or nullptr.
    waiter *pop() noexcept {
        waiter *w = first_;
        if (w)
            remove(*w);
        return w;
    }

  private:
    waiter *first_ = nullptr;
    waiter *last_ = nullptr;
};

// Waiters that were removed from a queue, to be granted after its lock is released.
class FULT_API wait_chain {
  public:
    void add(waiter *w) noexcept {
        FULT_ASSERT(!w->queued, "it was removed from its queue");
        w->next = nullptr;
        (last_ ? last_->next : first_) = w;
        last_ = w;
    }
    void add_all(wait_list &from) noexcept {
        while (waiter *w = from.pop())
            add(w);
    }
    bool empty() const noexcept { return first_ == nullptr; }
    waiter *first() const noexcept { return first_; }
    waiter *pop() noexcept {
        FULT_ASSERT(first_, "the chain is not empty");
        waiter *w = first_;
        first_ = w->next;
        if (!first_)
            last_ = nullptr;
        return w;
    }
    // Grants all; empty afterwards.
    void grant() noexcept;
    // The same; tasks run on this worker, unless thieves come first.
    void grant_here() noexcept {
        grant_here(std::exchange(first_, nullptr));
        last_ = nullptr;
    }
    static void grant_here(waiter *first) noexcept; // the chain from there on

  private:
    waiter *first_ = nullptr;
    waiter *last_ = nullptr;
};

struct left_nothing {
    void operator()() const noexcept {}
};

// Ends a wait in a queue without the grant: the waiter is removed and `left` is called, both under the lock.
// Returns false if it was removed before: then this has waited for its grant.
template <class Left = left_nothing>
bool leave_queue(spin_lock &lock, wait_list &list, waiter &w, const Left &left = Left()) {
    lock.lock();
    const bool queued = w.queued;
    if (queued) {
        list.remove(w);
        left();
    }
    lock.unlock();
    if (!queued)
        w.wait(); // the grant is on its way
    return queued;
}

// Waits in a queue. Called with its lock held, returns with the lock released. Returns false if the limits
// were reached: then it has left the queue. `what` is shown in reports.
template <class Left = left_nothing>
bool wait_in(const waiting_for &what, spin_lock &lock, wait_list &list, waiter &w, const wait_limits &limits,
             const Left &left = Left()) {
    FULT_ASSERT(lock.is_held(), "the caller holds the lock of the queue");
    list.push(w);
    lock.unlock();
    return w.wait(limits, what) || !leave_queue(lock, list, w, left);
}

// Called after a failed try. Now and then lets other tasks run, since the condition may depend on a task of
// the same worker. Returns true if another task ran: then another try is worthwhile.
FULT_API bool let_others_run_sometimes() noexcept;

} // namespace fult::detail
