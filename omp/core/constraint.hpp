// The task scheduling constraint (OpenMP 5.2, section 12.9): while a tied task is suspended in a taskwait, at
// the end of a taskgroup, in a taskyield or where it generates a task, its thread begins no other task than
// its descendants, tied or not. Barriers do not constrain. A task that waits for a lock, in an ordered
// region, or for a region that it has opened lets its thread begin nothing: these are no scheduling points.
//
// A task whose wait is over goes on when what has begun above it on its thread has ended: as with the
// compilers' libraries, which begin a task on the stack of the one that waits. So a program may hold a mutex
// of the system, or use data of the thread, across any of these waits, if its descendants leave both alone.
//
// A blocking call that OpenMP does not know, as of MPI or of FULT's own interfaces, suspends its task too.
// While a task of a thread is in such a call, the thread may begin any task: the call may wait for it. With
// FULT_OMP_BEGIN_IN_BLOCKING_CALLS=false it begins none.
//
// Each thread has a list of what its suspended tasks admit, the newest first. The newest decides: what began
// since descends from its task. A constraint holds for the tasks of the same member of a team alone, as a
// worker may have members of several. The scheduler asks may_begin before it starts a task there
// (task_ops in fult/detail/layout.hpp); a task that no thread may begin yet stays where it is.
#pragma once

#include <cstdint>

#include <fult/detail/tied.hpp>
#include <fult/detail/waiter.hpp>

namespace fult::omp {

struct omp_task;
struct team_member;
struct thread_state;

extern bool begins_in_blocking_calls; // set when the control variables are read

enum class begins { anything, descendants, nothing }; // on the thread of a task that is suspended

// What a wait ends by: what other tasks do, the waiting task's turn to go on, or the release of a lock.
enum class until { done, turn, unlocked };

struct constraint {
    omp_task *task = nullptr; // suspended, or with a region open
    begins what = begins::anything;
    until ends = until::done;
    bool is_apart = false; // its task does not descend from that of the one before
    std::uint64_t number = 0;
    constraint *before = nullptr;   // of the same thread
    detail::waiter *turn = nullptr; // its task's wait is over, but for those above it
    unsigned yields_seen = 0;       // those of the thread when that began
    bool is_let_go = false;         // before its turn
};

// Of one thread, for that thread alone.
class thread_constraints {
  public:
    // What the tasks that start now begin with: the number of constraints so far, if each task that has been
    // admitted since one of these descends from its task. Not so while a task waits that has begun although
    // it does not: undeferred by one that resumed, or while another task was in a blocking call.
    std::uint64_t stamp = 1;
    constraint *newest = nullptr;
    // Stacks on which OpenMP tasks run here, and those of them whose tasks wait for something of OpenMP's.
    // Another one is running, or in a blocking call.
    unsigned stacks = 0, waiting = 0;

    void push(constraint &c) noexcept;
    void remove(constraint &c) noexcept;
    void stack_ended() noexcept; // one of `stacks`
    // True if no task that has begun above that of c, and descends from it, is suspended.
    bool is_on_top(const constraint &c) const noexcept;
    bool has_apart() const noexcept { return apart_ != 0; }
    void await_turn(constraint &c) noexcept; // until c is the newest
    void count_yield(const constraint &c) noexcept;
    void count_apart(int more) noexcept {
        apart_ += static_cast<unsigned>(more);
        stamp = apart_ == 0 ? pushed_ : 0;
    }

  private:
    std::uint64_t pushed_ = 1; // constraints, and one
    unsigned apart_ = 0;       // of them, and of stacks
    unsigned yields_ = 0;
};

// While it lives, the running task waits for something of OpenMP's. Without effect on a foreign thread, or
// where no OpenMP task runs.
class omp_wait {
  public:
    explicit omp_wait(begins what, until ends = until::done) noexcept;
    ~omp_wait();
    omp_wait(const omp_wait &) = delete;
    omp_wait &operator=(const omp_wait &) = delete;

  private:
    thread_state *at_ = nullptr;
    constraint mine_;
};

// While it lives, an untied child runs in place of `me`. It does not constrain what begins while it waits,
// but `me` does, if it is tied: it is suspended too, and goes on as after a wait.
class omp_in_place {
  public:
    explicit omp_in_place(omp_task *me) noexcept;
    ~omp_in_place();
    omp_in_place(const omp_in_place &) = delete;
    omp_in_place &operator=(const omp_in_place &) = delete;

  private:
    constraint mine_;
};

// While it lives, the thread of `at`, a worker's, has one more stack of OpenMP tasks: the one that is
// running.
class omp_stack {
  public:
    explicit omp_stack(thread_state *at) noexcept;
    ~omp_stack();
    omp_stack(const omp_stack &) = delete;
    omp_stack &operator=(const omp_stack &) = delete;

  private:
    thread_state *at_;
    bool is_apart_;
};

// While it lives, f runs, as a tied task, on the stack of the running task, which is not OpenMP's. `slot` is
// one of this worker's.
class omp_above {
  public:
    omp_above(detail::task *slot, omp_task *f) noexcept;

  private:
    detail::tied_above tied_;
    omp_stack counted_;
};

// True if a child of `me`, which runs, may begin here, on the stack of `me`.
bool may_begin_children(const omp_task *me) noexcept;
// True if a claimed task of the runtime may start here (task_ops): that of an OpenMP task which may begin
// here, or which leaves its slot.
bool may_start(const detail::task &t) noexcept;
// True if f, which has not started, may begin on this worker; the caller has claimed it.
bool may_begin(omp_task *f) noexcept;
// The same for one constraint. False too if it is not known after a number of steps: some calls later it is.
bool admits(const constraint &c, omp_task *f) noexcept;
// The constraint on tasks of m that begin on its thread, which is this one; null: none.
const constraint *constraint_on(const team_member &m) noexcept;

} // namespace fult::omp
