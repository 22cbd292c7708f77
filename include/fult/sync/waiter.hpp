// What all of fult::sync stands on: a waiter on the stack of who waits, queues of them, and a lock for the
// few instructions in which a queue is changed. Internal to the library.
//
// Every waiter waits for its own grant: whoever lets it go on takes it out of its queue and grants it, and no
// other signal, nor the end of a child, is taken for that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include <fult/detail/misuse.hpp>
#include <fult/detail/platform.hpp>
#include <fult/detail/wait_note.hpp>
#include <fult/sync/deadline.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

class worker;
struct task;

// Held for some instructions only, by kernel threads; nothing suspends or throws while it holds one.
class FULT_API short_lock {
  public:
    FULT_ALWAYS_INLINE void lock() noexcept {
        if (held_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]] // pairs with unlock
            lock_slow();
    }
    FULT_ALWAYS_INLINE void unlock() noexcept { held_.store(0, std::memory_order_release); }

  private:
    void lock_slow() noexcept;
    std::atomic<std::uint32_t> held_{0};
};

// Until when, and until which request, somebody waits; neither by default.
class FULT_API wait_limits {
  public:
    wait_limits() noexcept = default;
    // Throws std::system_error where a runtime's first timed wait finds no memory or no descriptor.
    explicit wait_limits(steady_clock::time_point deadline);
    explicit wait_limits(const std::stop_token &stop) noexcept : stop_(&stop) {}
    wait_limits(const std::stop_token &stop, steady_clock::time_point deadline);

    bool none() const noexcept { return !timed_ && !stop_; }
    bool timed() const noexcept { return timed_; }
    steady_clock::time_point deadline() const noexcept { return deadline_; }
    const std::stop_token *stop() const noexcept { return stop_; }
    // Whether there is no use in waiting any longer.
    bool reached() const noexcept {
        return (stop_ && stop_->stop_requested()) || (timed_ && steady_clock::now() >= deadline_);
    }

  private:
    bool timed_ = false;
    steady_clock::time_point deadline_{};
    const std::stop_token *stop_ = nullptr;
};

// One wait of a task or of a foreign thread. Lies on the waiter's stack; whoever grants it must have taken it
// out of its queue before, and does not touch it afterwards.
class FULT_API waiter {
  public:
    waiter() noexcept;
    // For one that will wait without limits: then only its grant changes a parked waiter's state, and the
    // granter need not compare.
    struct without_limits {};
    explicit waiter(without_limits) noexcept : waiter() {
        stays_ = state_.load(std::memory_order_relaxed) == parked;
    }
    // For one that may be granted at once and else finds out itself whether others are ready.
    struct as_it_comes {};
    explicit waiter(as_it_comes) noexcept;
    waiter(const waiter &) = delete;
    waiter &operator=(const waiter &) = delete;

    // Waits for the grant. A task suspends, a foreign thread blocks. `what` is told to who looks inside.
    void wait(const waiting_for &what = {}) noexcept;
    // The same without looking for the grant first: for who knows that others are ready to run.
    void wait_at_once(const waiting_for &what = {}) noexcept;
    // The same as wait within limits; false: they were reached, and no grant came so far.
    bool wait(const wait_limits &limits, const waiting_for &what = {});
    // The same for a wait that is rarely short: gives the worker away at once.
    bool wait_long(const wait_limits &limits, const waiting_for &what = {});

    // Lets it go on. Everything written before is visible to it.
    void grant() noexcept;
    // The same where a task waits for nothing else than the caller's next suspension: it goes on on this
    // worker then.
    void grant_next() noexcept;
    // The same; the caller, on that worker, runs the task that it gets, or hands it over.
    task *grant_claimed(worker *here) noexcept;
    // For the waiter's own thread: it needs no grant any more.
    void grant_itself() noexcept { state_.store(granted, std::memory_order_relaxed); }
    bool is_granted() const noexcept { return state_.load(std::memory_order_acquire) == granted; }

    // Lets it look at its limits again. The caller makes sure that it still waits.
    void nudge() noexcept;

    // Whether any worker may run it: a task that is not bound to one.
    bool is_free_task() const noexcept { return who_ && (who_.value() & 1) == 0; }
    // Whether it is a task that waits for its grant and nothing else.
    bool stays() const noexcept { return stays_; }

    // For the queue's lock ----------------------------------------------------------------------------------
    waiter *next = nullptr;
    waiter *previous = nullptr;
    bool queued = false;     // in a queue; once it is not, a grant is on its way
    std::uintptr_t note = 0; // whatever the queue's owner wants to know
    void *subject = nullptr; // what is handed over, or where to

  private:
    friend class wait_chain;
    class on_thread;
    enum : std::uint32_t {
        polling,
        parked,
        granted,
        at_bell // parked, of a foreign thread that watches for all (fult/thread_waits.hpp)
    };

    explicit waiter(worker *here) noexcept;
    bool poll() noexcept;
    bool gave_way() noexcept;
    bool suspend_while_parked(const wait_limits &limits, const waiting_for &what) noexcept;
    std::uint32_t change_to_granted() noexcept;
    void wait_on_thread(const steady_clock::time_point *deadline) noexcept;
    void wake_up(task_id who, std::uint32_t was) noexcept;

    std::atomic<std::uint32_t> state_{polling};
    std::atomic<bool> nudged_{false};
    bool stays_ = false; // parked until it is granted
    const task_id who_;  // empty: a foreign thread, which sleeps on state_
};

// First in, first out. Under its owner's lock.
class wait_list {
  public:
    bool empty() const noexcept { return first_ == nullptr; }
    waiter *first() const noexcept { return first_; }

    void push(waiter &w) noexcept {
        w.queued = true;
        w.next = nullptr;
        w.previous = last_;
        (last_ ? last_->next : first_) = &w;
        last_ = &w;
    }
    void remove(waiter &w) noexcept {
        w.queued = false;
        (w.previous ? w.previous->next : first_) = w.next;
        (w.next ? w.next->previous : last_) = w.previous;
    }
    // The first one, or null.
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

// Waiters that were taken out of a queue, to be granted after its lock was released.
class FULT_API wait_chain {
  public:
    void add(waiter *w) noexcept {
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
        waiter *w = first_;
        first_ = w->next;
        if (!first_)
            last_ = nullptr;
        return w;
    }
    // Grants all; empty afterwards.
    void grant() noexcept;
    // The same; those that are tasks go on on this worker, unless others come first.
    void grant_here() noexcept;

  private:
    waiter *first_ = nullptr;
    waiter *last_ = nullptr;
};

// Waits in a queue. Called with its lock held, returns with it released. False: the limits were reached, and
// the waiter is out of the queue; `left` ran under the lock then. `what` is told to who looks inside.
struct left_nothing {
    void operator()() const noexcept {}
};
template <class Left = left_nothing>
bool wait_in(const waiting_for &what, short_lock &lock, wait_list &list, waiter &w, const wait_limits &limits,
             const Left &left = Left()) {
    list.push(w);
    lock.unlock();
    if (limits.none()) {
        w.wait(what);
        return true;
    }
    if (w.wait(limits, what))
        return true;
    lock.lock();
    if (w.queued) {
        list.remove(w);
        left();
        lock.unlock();
        return false;
    }
    lock.unlock();
    w.wait(); // it was taken out before: the grant is on its way
    return true;
}

template <class Left = left_nothing>
bool wait_in(short_lock &lock, wait_list &list, waiter &w, const wait_limits &limits,
             const Left &left = Left()) {
    return wait_in(waiting_for(), lock, list, w, limits, left);
}

// A try that failed, in a row of them: a task that does nothing else lets others run at times, since what it
// waits for may be about to run on its worker. Whether it did: then another try is worth while.
FULT_API bool let_others_run_at_times() noexcept;

} // namespace fult::detail
