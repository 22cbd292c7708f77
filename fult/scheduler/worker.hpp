// A worker: a kernel thread that runs tasks, and the home of the tasks spawned on it. The object lies at the
// beginning of its home. Before it: its count of decisions, and the other workers that it looks at.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>
#include <fult/detail/tied.hpp>

#include "fult/base/random.hpp"
#include "fult/base/spin_lock.hpp"
#include "fult/memory/home_memory.hpp"
#include "fult/memory/spawn_sites.hpp"
#include "fult/memory/stack.hpp"
#include "home_slots.hpp"
#include "idling.hpp"
#include "ready_set.hpp"
#include "stack_cache.hpp"
#include "team.hpp"
#include "work_sources.hpp"

namespace fult::detail {

class worker;
struct jump_result; // switch.hpp
class switch_word;
enum class switch_reason : std::uintptr_t;

// Counts what a worker does until other tasks must get a turn (docs/scheduler.md, "What is a decision").
class decision_count {
  public:
    std::uint32_t next() noexcept { // counts a decision
        const std::uint32_t next = count() + 1;
        count_.store(next, std::memory_order_relaxed);
        return next;
    }
    std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); } // any thread

    // Every 32nd decision is one for fairness.
    bool is_next_fair() const noexcept { return (count() + 1) % fairness == 0; }
    bool is_fair() noexcept { return next() % fairness == 0; } // counts it

    // Each counts; true if others must get a turn.
    bool count_poll() noexcept { return ++polls_ % long_poll == 0; }       // a wait that ended while polling
    bool count_failure() noexcept { return ++failures_ % long_poll == 0; } // a try
    bool count_row() noexcept { return ++rows_ % row_starts == 0; }        // unstarted tasks, too

  private:
    static constexpr std::uint32_t fairness = 32;
    static constexpr std::uint32_t long_poll = 256;
    // One row of inline joins in this many may start an unstarted task: most of those belong to the same
    // tree, and its joins would run them inline.
    static constexpr std::uint32_t row_starts = 16;

    std::atomic<std::uint32_t> count_{0}; // written by its worker only
    std::uint32_t polls_ = 0, failures_ = 0, rows_ = 0;
};

// The other workers that a worker looks at one by one, in groups by distance, nearest first. None if stealing
// is disabled.
class neighbours {
  public:
    // At most so many. Of the other homes of a larger team, hints show which may have tasks (crowd). A
    // test sets it before the runtime starts.
    static inline unsigned max_neighbours = 64;
    // Of those that the runtime gets later, before it is a crowd.
    static constexpr unsigned max_appended = 64;

    explicit neighbours(unsigned seed) noexcept : random_(seed) {}
    void add_group(std::vector<worker *> group) { groups_.push_back(std::move(group)); }
    // A worker that the runtime gets while it runs. Not by two threads at once; the owner may be searching.
    void append(worker &other) noexcept {
        const unsigned before = appended_count_.load(std::memory_order_relaxed);
        FULT_ASSERT(before < appended_.size());
        appended_[before] = &other;
        appended_count_.store(before + 1, std::memory_order_release); // pairs with appended
    }

    // True once is(other) is true, nearest first.
    template <class Is> bool any(const Is &is) const noexcept {
        for (const auto &group : groups_)
            for (worker *other : group)
                if (is(*other))
                    return true;
        for (worker *other : appended())
            if (is(*other))
                return true;
        return false;
    }
    template <class Each> void for_each(const Each &each) const noexcept {
        static_cast<void>(any([&](worker &other) {
            each(other);
            return false;
        }));
    }
    // The first task that take(other) returns; within a group the start is random.
    template <class Take> task *find(const Take &take) noexcept {
        for (const auto &group : groups_)
            if (task *t = find_in(group, take))
                return t;
        return find_in(appended(), take);
    }

  private:
    template <class Take> task *find_in(std::span<worker *const> group, const Take &take) noexcept {
        const auto size = static_cast<std::uint32_t>(group.size());
        const std::uint32_t start = size != 0 ? random_.below(size) : 0;
        for (std::uint32_t i = 0; i < size; ++i)
            if (task *t = take(*group[(start + i) % size]))
                return t;
        return nullptr;
    }
    std::span<worker *const> appended() const noexcept {
        return {appended_.data(), appended_count_.load(std::memory_order_acquire)}; // pairs with append
    }

    std::vector<std::vector<worker *>> groups_;
    std::array<worker *, max_appended> appended_{};
    std::atomic<unsigned> appended_count_{0};
    random_source random_;
};

// The C++ runtime's record of exceptions in flight (Itanium ABI, 2.2.2). It belongs to the task and moves
// with it.
struct exceptions_in_flight {
    void *caught;
    unsigned uncaught;
};

class alignas(cache_line) worker : public worker_hot {
  public:
    // Creates a home and its worker. Throws std::system_error if memory cannot be allocated.
    static worker *create(worker_team &owner, unsigned index);
    static void destroy(worker *w) noexcept;

    worker_team &team;
    const unsigned index; // foreign_index: the home of foreign threads' tasks, without a thread
    bool has_thread() const noexcept { return index != worker_team::foreign_index; }
    ready_set tasks;
    home_slots slots{tasks};
    spawn_sites sites; // of the tasks of this home
    idling idle;
    detail::neighbours neighbours;
    work_sources sources;
    decision_count decisions;

    // The thread ------------------------------------------------------------------------------------------------------------
    void enter_thread(); // makes this the worker of the calling thread
    void leave_thread() noexcept;
    void serve() noexcept; // runs tasks until the team stops; called on the thread's own stack
    void set_neighbours(const std::vector<std::vector<unsigned>> &groups);
    bool open_stacks() noexcept; // allocates the scheduler's, and the first one for tasks

    // Accessed by the worker only: spawn must not suspend here (detail/service.hpp); it starts some tasks
    // only (select_starts in detail/tied.hpp); its last search has found tasks that it may not start.
    bool no_suspension_in_spawn = false, is_selective = false, passed_over = false;

    // The home -------------------------------------------------------------------------------------------------------------------
    // Stores what spawn_options added to a task of this home. The inspector reads names under the same lock.
    void set_extras(task *t, std::unique_ptr<task_extras> extras) noexcept;
    spin_lock &extras_lock() noexcept { return extras_lock_; }

    // True if the slot is certainly free; false is inconclusive. From any thread.
    bool is_free(const task *t) const noexcept;

    // Scheduling, on the calling thread -----------------------------------------------------------------------------------------
    task *pick(bool yielding) noexcept; // claims a ready task of this home; nullptr if there is none
    bool has_work() noexcept {          // true if pick may find a task
        return is_selective ? has_resumable() : sources.may_have_any(*this);
    }
    // has_work without reading cache lines of other workers
    bool has_own_work() noexcept {
        return is_selective ? has_resumable() : sources.may_have_in_own_lines(*this);
    }
    // The same without tasks of which it is not known whether this worker may start them.
    bool has_resumable() noexcept;
    // True if any worker has work. Also revokes private tasks of workers that reach no scheduling point.
    // soon_too: tasks count that another worker is about to run.
    bool may_have_work_anywhere(bool soon_too) noexcept {
        return has_work() || sources.may_have_elsewhere(*this, soon_too);
    }
    // Scheduling decisions of a task that does not call yield (fairness.cpp). take_turn switches to another
    // ready task, if there is one. count_turn does that on every 32nd call. end_row is called when the stack
    // seems too low for another inline join: if the stack is not low, the row of joins is over and another
    // task gets a turn.
    void take_turn(bool unstarted_too = true) noexcept;
    void count_turn() noexcept {
        if (decisions.is_fair())
            take_turn();
    }
    void count_step() noexcept { // as count_turn; like rows of joins, few steps start an unstarted task
        if (decisions.is_fair())
            take_turn(decisions.count_row());
    }
    void end_row() noexcept;
    // returns when self is resumed, possibly on another worker
    void switch_from(task *self, switch_reason how, task *next) noexcept;
    void make_ready(task *t) noexcept; // makes t runnable: private here if possible, else public
    void publish_work() noexcept;      // publishes private tasks after a work request
    void request_work() noexcept {     // by another worker: its next spawn publishes
        if ((request_flags.load(std::memory_order_seq_cst) & work_requested) == 0)
            request_flags.fetch_or(work_requested, std::memory_order_seq_cst); // pairs with publish_work
    }
    // signals; if it returns a claimed task, the caller must hand it off
    task *claim_or_signal(task_id who) noexcept;
    handed_off_chain &handed_off() noexcept { return sources.get<handed_off_chain>(); }
    const handed_off_chain &handed_off() const noexcept { return sources.get<handed_off_chain>(); }
    bool consume_signal(task *self) noexcept; // consumes a pending wake-up, or the bit in self's public word
    // Gives idle stacks and descriptors back (trim.cpp).
    void trim() noexcept;
    void trim_as_requested() noexcept;
    stack *current_stack() const noexcept { return current_stack_; }
    exceptions_in_flight &exceptions() const noexcept { return *exceptions_; }
    void adopt_main(task *main) noexcept; // it runs on the thread's own stack

  private:
    worker(worker_team &owner, unsigned index, const home_memory &memory) noexcept;

    // Switching (switch.hpp, switch.cpp)
    static void stack_main(jump_result in) noexcept;
    worker *run_incoming() noexcept;
    static void scheduler_main(jump_result in) noexcept;
    static worker *finish_switch(jump_result in, void *fake) noexcept;
    worker *jump_to(void *target, stack *on, std::uintptr_t limit, switch_word word) noexcept;
    worker *resume(task *next, switch_word word) noexcept;
    worker *start(task *next, switch_word word) noexcept;
    worker *switch_to_scheduler(switch_word word) noexcept;
    static void run_task(task *t) noexcept;
    bool belongs_on_thread_stack(const task *t) const noexcept;
    bool fits_here(const task *t) const noexcept;
    void put_back(task *t) noexcept;

    task *pick_from_sources(bool yielding) noexcept;
    task *pick_started(bool fair) noexcept;
    task *pick_selected(bool yielding, bool fair) noexcept;
    task *find_task() noexcept;
    home_memory memory_; // in which this lies
    spin_lock extras_lock_;
    unsigned selective_turn_ = 0; // of fairness decisions

    stack *current_stack_ = nullptr;    // the stack that is running
    task *incoming_ = nullptr;          // the task to start on the stack that is jumped to
    void *scheduler_context_ = nullptr; // the worker's own context
    stack thread_stack_;                // for pinned tasks, one at a time; on worker 0 for the main task
    stack *scheduler_stack_ = nullptr;
    stack_cache stacks_{team};
    int *errno_ = nullptr;
    exceptions_in_flight *exceptions_ = nullptr;
    std::uintptr_t inline_limit_ = 0; // limit of the running stack, without the increments by joins
};

// Picks the newest task first by default. A yielding task prefers tasks that already have a stack to
// unstarted ones. Every few decisions another source comes first, so that every ready task is eventually
// reached.
FULT_ALWAYS_INLINE task *worker::pick(bool yielding) noexcept {
    if (yielding && !decisions.is_next_fair() && request_flags.load(std::memory_order_relaxed) == 0 &&
        !sources.may_have_at_once(*this)) [[likely]]
        if (task *t = tasks.take_yielded_at_turn()) {
            decisions.next();
            return t;
        }
    return pick_from_sources(yielding);
}

// The main task has the first slot that is ever taken.
inline bool is_main(const task *t) noexcept {
    return slot_of(t) == 1 && static_cast<const worker *>(home_of(t))->index == 0;
}

extern worker_hot no_worker; // the value for foreign threads

// The worker of the calling thread; nullptr on a foreign thread.
inline worker *this_worker() noexcept {
    worker_hot *w = current_worker();
    return w == &no_worker ? nullptr : static_cast<worker *>(w);
}

// The team of the runtime that the calling thread sees while its visit lives, `here` being its worker;
// nullptr: none is running.
inline worker_team *visited_team(const worker *here, const team_visit &visit) noexcept {
    return here ? &here->team : visit.team();
}

} // namespace fult::detail
