// A worker: a kernel thread that runs tasks, and the home of the tasks spawned on it. The object lies at the
// beginning of its home.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

#include "context.hpp"
#include "fult/base/random.hpp"
#include "fult/base/spin_lock.hpp"
#include "fult/memory/slot_allocator.hpp"
#include "fult/memory/stack.hpp"
#include "fult/tasks/switch_word.hpp"
#include "interrupted_tasks.hpp"
#include "parker.hpp"
#include "ready_set.hpp"
#include "team.hpp"

namespace fult::detail {

// The C++ runtime's record of exceptions in flight (Itanium ABI, 2.2.2). It belongs to the task and moves
// with it.
struct exceptions_in_flight {
    void *caught;
    unsigned uncaught;
};

// Number of words in each half of a home for max_tasks tasks.
inline constexpr std::size_t slots_in_word = std::popcount(usable_slots);
constexpr std::size_t words_for(std::size_t max_tasks) noexcept {
    return (max_tasks + slots_in_word - 1) / slots_in_word;
}

class alignas(cache_line) worker : public worker_hot {
  public:
    // Creates a home and its worker. Throws std::system_error if memory cannot be allocated.
    static worker *create(worker_team &owner, unsigned index);
    static void destroy(worker *w) noexcept;

    worker_team &team;
    const unsigned index;
    ready_set tasks;

    // The thread ------------------------------------------------------------------------------------------------------------
    void enter_thread(); // makes this the worker of the calling thread
    void leave_thread() noexcept;
    void serve(); // runs tasks until the team stops; on the thread's own stack
    void set_neighbours(const std::vector<std::vector<unsigned>> &groups);
    // Allocates the first stacks. with_scheduler_stack: also one for the scheduler context, for the worker
    // whose thread stack is the main task's.
    bool open_stacks(bool with_scheduler_stack) noexcept;

    // spawn must not suspend here (detail/service.hpp); accessed by the worker only
    bool no_suspension_in_spawn = false;

    // Slots: the lower half of the home is the worker's own, the upper one is for others, under a lock ------------------------
    task *take_own_slot() noexcept;
    bool is_far_ahead() const noexcept { return slots_.is_far_ahead(); }
    task *take_shared_slot() noexcept;
    // Releases any slot except the one just before the run of slots, which release_slot handles. If the run
    // is hidden, any slot.
    FULT_ALWAYS_INLINE void release_own_slot(task *t) noexcept {
        FULT_ASSERT(home_of(t) == this && slot_of(t) < half_slots);
        if (slots_.release_elsewhere(slot_of(t))) [[unlikely]]
            follow_slot(t);
    }
    std::uint64_t living() noexcept; // number of taken slots; exact while no task is spawned
    std::uint64_t ended() noexcept;  // of these, slots of tasks that have ended and were not joined
    // Stores what spawn_options added to a task of this home. The inspector reads names under the same lock.
    void set_extras(task *t, std::unique_ptr<task_extras> extras) noexcept;
    spin_lock &extras_lock() noexcept { return extras_lock_; }

    // True if the slot is certainly free; false is inconclusive. From any thread.
    bool is_free(const task *t) const noexcept;

    // Spawn sites of this home's tasks, recorded if the option spawn_sites is on.
    void record_spawn_site(const task *t) noexcept; // called by the spawner
    std::size_t site_of(const task *t, std::span<void *> into) const noexcept;
    static constexpr std::size_t site_frames = 6;

    // Scheduling, on the calling thread -----------------------------------------------------------------------------------------
    task *pick(bool yielding) noexcept; // claims a ready task of this home; nullptr if there is none
    bool has_work() noexcept;           // true if pick may find a task
    // True if any worker has work. Also revokes private tasks of workers that reach no scheduling point.
    bool work_anywhere(bool include_handed_off) noexcept;
    bool has_own_work() noexcept { // has_work without reading cache lines of other workers
        return handed_off_.load(std::memory_order_relaxed) != nullptr || tasks.any_private();
    }
    // Scheduling decisions of a task that does not call yield (fairness.cpp). take_turn switches to another
    // ready task, if there is one. count_turn does that on every 32nd call. end_row is called when the stack
    // seems too low for another inline join: if the stack is not low, the row of joins is over and another
    // task gets a turn.
    void take_turn(bool unstarted_too = true) noexcept;
    void count_turn() noexcept {
        if (tick() % fairness == 0)
            take_turn();
    }
    void end_row() noexcept;
    bool polled_for_long() noexcept { return ++polls_ % long_poll == 0; }
    bool failed_for_long() noexcept { return ++failures_ % long_poll == 0; }
    // returns when self is resumed, possibly on another worker
    void switch_from(task *self, switch_reason how, task *next) noexcept;
    void make_ready(task *t) noexcept; // makes t runnable: private here if possible, else public
    void publish_work() noexcept;      // publishes private tasks after a work request
    // signals; if it returns a claimed task, the caller must hand it off
    task *claim_or_signal(task_id who) noexcept;
    void hand_off(task *first, task *last) noexcept; // claimed tasks, chained by `next`, run on this worker
    // Deferred release of a lock that a task of this worker has released while others queue. This worker's
    // next decision, or a thief, transfers the lock, unless a task of this worker reacquires it before.
    // defer_release returns false if tasks have been handed off already.
    // returns the next owner, claimed, or nullptr
    using transfer_function = task *(*)(void *lock, worker &here) noexcept;
    bool defer_release(void *lock, transfer_function transfer) noexcept;
    bool reacquire(const void *lock) noexcept;
    // may be a deferred lock
    const task *handed_off() const noexcept { return handed_off_.load(std::memory_order_acquire); }
    bool took_signal(task *self) noexcept; // consumes a pending wake-up, or the bit in self's public word
    std::atomic<std::uint32_t> polling{0}; // set while this worker is awake and polls its own words
    void stop_polling() noexcept;
    // Gives idle stacks and descriptors back. trim_shared may be called from any thread (trim.cpp).
    void trim() noexcept;
    void trim_as_requested() noexcept;
    void trim_asleep() noexcept;
    void trim_shared() noexcept;
    // for the child of a fork
    void drop_handed_off() noexcept { handed_off_.store(nullptr, std::memory_order_relaxed); }
    stack *current_stack() const noexcept { return current_stack_; }
    exceptions_in_flight &exceptions() const noexcept { return *exceptions_; }
    void adopt_main(task *main, stack *its_stack) noexcept;
    static bool is_deferred_lock(const task *t) noexcept { return (address_of(t) & 1) != 0; }

    parker sleep;
    // Long sleep. After long_sleep_after() milliseconds of sleep, on_long_sleep is called. It returns the
    // milliseconds until the next call, or -1 for no further call. end_long_sleep is called when the sleep
    // ends. A watcher is counted as long asleep only while it does nothing but sleep. All are called by the
    // worker itself.
    int long_sleep_after() const noexcept;
    int on_long_sleep(bool watches) noexcept;
    bool count_long_asleep(bool long_asleep) noexcept;
    void end_long_sleep() noexcept;

  private:
    void begin_apart() noexcept; // as slot_allocator's
    void return_to(const task *next_slot) noexcept;
    void follow_slot(task *t) noexcept;
    task *take_handed_off() noexcept;
    static task *deferred_lock(const void *lock) noexcept { // the encoding of a lock in handed_off_
        FULT_ASSERT((address_of(lock) & 1) == 0);
        return at_address<task>(address_of(lock) | 1);
    }
    void notify_handoff() noexcept;
    static void *lock_of(const task *t) noexcept { // the inverse
        FULT_ASSERT(is_deferred_lock(t));
        return at_address<void>(address_of(t) & ~std::uintptr_t{1});
    }
    task *transfer(const worker &from, const task *what) noexcept;
    task *steal_handed_off() noexcept;
    void adopt_handed_off(task *chain) noexcept;

    worker(worker_team &owner, unsigned index) noexcept;

    // Switching (switch.hpp, switch.cpp)
    static void stack_main(boost::context::detail::transfer_t in) noexcept;
    static void scheduler_main(boost::context::detail::transfer_t in) noexcept;
    static worker *finish_switch(jump_result in, void *fake) noexcept;
    worker *jump_to(void *target, stack *on, std::uintptr_t limit, switch_word word) noexcept;
    worker *resume(task *next, switch_word word) noexcept;
    worker *start(task *next, switch_word word) noexcept;
    worker *switch_to_scheduler(switch_word word) noexcept;
    static void run_task(task *t) noexcept;
    bool fits_here(const task *t) const noexcept;
    stack *take_stack(const task *t) noexcept;
    void give_stack(stack *s) noexcept;
    void put_back(task *t) noexcept;

    // Claimed tasks that wait for this worker's next decision, chained by `next`: tasks that were granted by
    // a running task (sync/). Only this worker pushes and pops; other workers take the whole chain.
    // Alternatively a single deferred lock. Each task of the chain is busy, has a context, and has no bit
    // that makes another worker run it: its granter has claimed it.
    alignas(cache_line) std::atomic<task *> handed_off_{nullptr};
    std::atomic<std::uint32_t> handoff_count_{0}; // number of hand-offs; written by this worker only
    std::atomic<transfer_function> transfer_{nullptr};
    unsigned watched_victim_ = 0;        // the worker whose chain was inspected last,
    task *watched_first_ = nullptr;      // the first task of that chain,
    std::uint32_t watched_handoffs_ = 0; // and that worker's handoff_count_

    task *pick_otherwise(bool yielding) noexcept;
    task *pick_started(bool fair) noexcept;

    // Fairness (fairness.cpp): the sources of ready tasks, each a sweep that reaches every task of its kind.
    using source = task *(worker::*)() noexcept;
    static const source sources[];
    task *pick_for_fairness(bool unstarted_too = true) noexcept;
    task *take_own_unstarted() noexcept { return tasks.take_ready_in_turn(); }
    task *take_own_yielded() noexcept { return tasks.take_yielded_in_turn(); }
    task *take_own_pinned() noexcept { return tasks.take_pinned_in_turn(); }
    task *take_own_public() noexcept { return tasks.take_public_in_turn(); }
    task *take_oldest_handed_off() noexcept;
    task *take_foreign() noexcept;
    task *take_of_others() noexcept;
    task *take_hidden() noexcept;
    task *steal_from_slot(worker &victim, std::uint32_t &slot) noexcept;
    unsigned other_after(unsigned number) const noexcept;
    std::uint32_t tick() noexcept { // counts a decision
        const std::uint32_t next = tick_.load(std::memory_order_relaxed) + 1;
        tick_.store(next, std::memory_order_relaxed);
        return next;
    }
    bool is_fair_turn() const noexcept { return (tick_.load(std::memory_order_relaxed) + 1) % fairness == 0; }

    // Searching for work (search.cpp)
    task *find() noexcept;
    task *search() noexcept;
    task *steal_from(worker &victim, bool &forwarded) noexcept;
    task *steal_round() noexcept;
    bool revoke_round() noexcept;
    void request_work() noexcept;
    enum class park_mode { until_unparked, poll_sleep };
    void park(park_mode how) noexcept;
    void sleep_until_woken(std::uint32_t prepared) noexcept;
    std::uint32_t handoffs_of_others() const noexcept;

    slot_allocator slots_;
    slot_run
        // the run of the own slots if every spawn must take the slow path: the fast path then finds no slot
        hidden_run_;
    spin_lock shared_lock_;
    slot_run shared_run_;
    slot_allocator shared_slots_;
    spin_lock extras_lock_;
    std::atomic<void *> *sites_ = nullptr; // site_frames entries per slot

    stack *current_stack_ = nullptr;    // the stack that is running
    task *incoming_ = nullptr;          // the task to start on the stack that is jumped to
    void *scheduler_context_ = nullptr; // the worker's own context
    stack thread_stack_;
    stack *scheduler_stack_ = nullptr;
    stack *stacks_ = nullptr; // a few idle stacks
    unsigned stack_count_ = 0;
    int *errno_ = nullptr;
    exceptions_in_flight *exceptions_ = nullptr;
    std::uintptr_t inline_limit_ = 0; // limit of the running stack, without the increments by joins
    static constexpr std::uint32_t fairness = 32;   // in decisions
    static constexpr std::uint32_t long_poll = 256; // in waits that ended while polling, or failed tries
    std::atomic<std::uint32_t> tick_{0};            // number of decisions; written by this worker only
    std::uint32_t polls_ = 0, failures_ = 0;
    std::uint32_t oldest_checks_ = 0;
    std::uint32_t turn_ = 0;         // rotates over the sources
    std::uint32_t rows_ = 0;         // number of ended rows of inline joins
    interrupted_tasks interrupted_;  // by the ends of these
    std::uint32_t foreign_slot_ = 0; // position of the sweep over the home of foreign threads,
    unsigned swept_victim_;          // and of the sweep over the other workers' homes
    std::uint32_t swept_slot_ = 0;
    std::uint32_t hidden_checks_ = 0;
    unsigned hidden_victim_; // the worker checked last, and its decisions at that time
    std::uint32_t hidden_victim_ticks_ = 0;
    random_source random_;
    std::vector<std::vector<worker *>> victims_; // nearest first
    int next_deadlock_check_ = 0;                // milliseconds; 0 unless in a long sleep
    bool last_long_asleep_ = false;              // all other workers were long asleep when this one became so
    bool counted_long_asleep_ = false;           // counted in team.long_asleep
};

// Picks the newest task first by default. A yielding task prefers tasks that already have a stack to
// unstarted ones. Every few decisions another source comes first, so that every ready task is eventually
// reached.
FULT_ALWAYS_INLINE task *worker::pick(bool yielding) noexcept {
    if (yielding && !is_fair_turn() && request_flags.load(std::memory_order_relaxed) == 0 &&
        handed_off_.load(std::memory_order_relaxed) == nullptr) [[likely]]
        if (task *t = tasks.take_yielded_at_turn()) {
            tick();
            return t;
        }
    return pick_otherwise(yielding);
}

// Like fult::signal, but the id may be that of a task that has ended: then the signal is at worst a spurious
// wake-up.
void post_signal(task_id id) noexcept;

extern worker_hot no_worker; // the value for foreign threads

// The worker of the calling thread; nullptr on a foreign thread.
inline worker *this_worker() noexcept {
    worker_hot *w = current_worker();
    return w == &no_worker ? nullptr : static_cast<worker *>(w);
}

} // namespace fult::detail
