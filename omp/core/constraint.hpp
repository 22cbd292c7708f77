// The task scheduling constraint (OpenMP 5.2, section 12.9): while a tied task is suspended in a taskwait, at
// the end of a taskgroup, in a taskyield or where it generates a task, its thread begins no other task than
// its descendants, tied or not. Barriers do not constrain. A task that waits for a lock or in an ordered
// region lets its thread begin nothing: these are no scheduling points. While a region is open, its thread
// begins tasks of that region alone, and none before its implicit task: a task that waits for something that
// this implicit task does would not let it begin, or would have a mutex of the system that it asks for.
//
// A task whose wait is over goes on when what has begun above it on its thread has ended: as with the
// compilers' libraries, which begin a task on the stack of the one that waits. So a program may hold a mutex
// of the system, or use data of the thread, across any of these waits, if its descendants leave both alone.
//
// A blocking call that OpenMP does not know, as of MPI or of FULT's own interfaces, suspends its task too.
// While a task of a thread is in such a call, the thread may begin any task: the call may wait for it. With
// FULT_OMP_BEGIN_IN_BLOCKING_CALLS=false it begins none.
//
// Each thread has a list of what its suspended tasks admit, the newest first. All of them must admit a task.
// Usually the newest decides, as what began since descends from its task. If a task has begun while
// another one was in a blocking call, it and what began before do not constrain each other: what each waits
// for must be able to begin. A constraint holds for the tasks of the same member of a team alone, as a worker
// may have several members: a task begins as one of them that may begin it. The scheduler asks may_begin
// before it starts a task there (task_ops in fult/detail/layout.hpp); a task that no thread may begin yet
// stays where it is.
#pragma once

#include <cstdint>

#include <fult/detail/tied.hpp>
#include <fult/detail/waiter.hpp>

namespace fult::omp {

struct omp_task;
struct team;
struct team_member;
struct thread_state;

extern bool begins_in_blocking_calls; // set when the control variables are read

enum class begins { anything, descendants, nothing }; // on the thread of a task that is suspended

// What a wait ends by: what other tasks do, the waiting task's turn to go on, or the release of a lock that
// a task of the same thread holds.
enum class until { done, turn, unlocked };

// Whether the task of an older constraint went on all the same; in_call: while a task of the thread was in a
// blocking call.
enum class passed : std::uint8_t { no, in_call, yes };

struct constraint {
    omp_task *task = nullptr; // suspended, or with a region open
    begins what = begins::anything;
    until ends = until::done;
    bool is_apart = false; // its task does not descend from that of the one before
    passed is_passed = passed::no;
    std::uint64_t number = 0;
    constraint *before = nullptr;   // of the same thread
    detail::waiter *turn = nullptr; // its task's wait is over, but for those above it
    unsigned yields_seen = 0;       // those of the thread when that began
    bool is_let_go = false;         // before its turn: one above polls for what it may do next
    struct {
        std::uint64_t begin, end;
    } passed_over{}; // parents in the queue of the team that do not descend from its task; end 0: not known
};

// Of one thread, for that thread alone.
class thread_constraints {
  public:
    // What the tasks that start now begin with: the number of constraints so far, if each task that starts
    // here after one of these descends from its task. Unknown while a task is suspended, or has a stack here,
    // that has begun without that (in a blocking call of another one, or undeferred), and while one is
    // suspended below which an older one has gone on.
    std::uint64_t stamp = 1;
    constraint *newest = nullptr;
    // Stacks on which OpenMP tasks run here, and those of them whose tasks wait for something of OpenMP's.
    // Another one is running, or in a blocking call.
    unsigned stacks = 0, waiting = 0;
    // The running task has tried to take a lock since the last yield. A task of this thread may hold it.
    enum class lock_tried : std::uint8_t { none, of_another, own } tried = lock_tried::none;

    void push(constraint &c) noexcept;
    void remove(constraint &c) noexcept;
    void stack_ended() noexcept;                    // one of `stacks`
    void go_on_below(const constraint &c) noexcept; // its task does
    // True if no task that has begun above that of c, and descends from it, is suspended.
    bool is_on_top(const constraint &c) const noexcept;
    bool has_apart() const noexcept { return apart_ != 0; }
    void await_turn(constraint &c) noexcept;   // until c is the newest
    void yields(const constraint &c) noexcept; // the task of c, which is the newest
    void count_apart(int more) noexcept {
        apart_ += static_cast<unsigned>(more);
        stamp = apart_ == 0 ? pushed_ : 0;
    }

  private:
    std::uint64_t pushed_ = 1; // constraints, and one
    unsigned apart_ = 0;       // of them, and of stacks
    unsigned yields_ = 0;      // without such tries
    unsigned turns_awaited_ = 0;
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

// While it lives, an untied child runs in place of `me`, which waits and admits `what`. The child does not
// constrain what begins while it waits, but `me` does, if it is tied: it is suspended too, and goes on as
// after a wait.
class omp_in_place {
  public:
    omp_in_place(omp_task *me, begins what) noexcept;
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
// True if f, which has not started, may begin on this worker; the caller has claimed it. False too if it is
// not known after a number of steps: some calls later it is.
bool may_begin(omp_task *f) noexcept;
// The newest constraint on tasks of m that begin on its thread, which is this one; null: none.
constraint *constraint_on(const team_member &m) noexcept;
// True if f, which has not started, does not descend from the task of c, as far as that is known.
bool never_admits(const constraint &c, const omp_task *f) noexcept;
// The member as which f may begin on this worker: that of its parent, if it can be. Null: it may not.
team_member *member_for(omp_task *f) noexcept;
// True if some member of the team may begin any of its tasks on this worker.
bool may_begin_any(const team &t) noexcept;

} // namespace fult::omp
