// One OpenMP task, implicit or explicit, from its generation to the end of its last descendant.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "blocks.hpp"
#include "child_counter.hpp"
#include "constraint.hpp"
#include "taken_tasks.hpp"

namespace fult::omp {

struct team;
struct team_member;
struct icv_set;
struct dependences;
struct dependence_node;
class detach_event;

// What belongs to one thread for as long as it lives: a worker, or a foreign thread that has opened a region.
// Never deleted: another thread takes it over.
struct yield_row {
    const omp_task *by = nullptr; // this task has yielded last,
    unsigned length = 0;          // so often in a row
};

struct alignas(64) thread_state {
    block_cache blocks;
    team *spare = nullptr; // for the next region that the thread opens
    thread_constraints constraints;
    taken_tasks taken; // dependent ones of other threads
    yield_row yields;
    unsigned worker = no_worker; // its number
    std::atomic<int> bound{-1};  // number of the place to which it is bound (binding.hpp); -1: not bound
    std::atomic<unsigned> open_regions{0}; // in which its members are on workers that it holds (holders.hpp)
    const thread_state *holder = nullptr;  // of a worker; this and the next under shared_state::holders
    std::vector<thread_state *> numbered;  // the worker that each number has had last in its outermost teams
    const int id = next_id();              // of this thread among all of the process
    static constexpr unsigned no_worker = taken_tasks::no_worker;

  private:
    static int next_id() noexcept;
};

static_assert(sizeof(thread_state) % 64 == 0 && alignof(thread_state) == 64,
              "no two threads' in one cache line");
// True on that thread. For assertions: unlike this_thread, it makes none.
bool is_here(const thread_state *at) noexcept;

enum omp_task_flags : std::uint32_t {
    is_implicit = 1,
    is_final = 2,
    generates_slowly = 4,       // its tasks are undeferred (no team, or a final task), or may be cancelled
    is_placeholder = 8,         // for the next task of a queue (task_queue.hpp)
    owns_objects = 16,          // its body destroys them: it runs even if it is cancelled
    is_untied = 32,             // it stays on its thread, but does not constrain what begins there
    leaves_slot = 64,           // it does not begin yet, but goes to the queue of its team
    first_front_flag = 0x10000, // this and the bits above are the front end's
};
// What a task has from the one that generates it.
inline constexpr std::uint32_t inherited_flags = is_final | generates_slowly;
static_assert((is_implicit | is_final | generates_slowly | is_placeholder | owns_objects | is_untied |
               leaves_slot) < first_front_flag);

// What few tasks have.
struct attachments {
    dependence_node *node = nullptr;       // what waits for this task
    detach_event *event = nullptr;         // its completion also needs this event
    dependences *children = nullptr;       // dependences among its children
    omp_task *detaching = nullptr;         // clang: the child that got an event last, if it has not begun yet
    void (*on_end)(omp_task *f) = nullptr; // called when its tree has ended, before the memory is given back
    void *block = nullptr;                 // of malloc: its data
    std::int32_t priority = 0;
};

// The children of a task, newest first: the task has the mark of the newest, and each child that of the one
// before (stored_task). So a task that waits finds its children wherever their slots are.
//
// A mark is a hint. The child may have started elsewhere, and its slot may have another task by now. Marks
// are written and read on the thread of the parent, and the slots are those of its worker. The number shows
// whether the slot still has that child or a newer task, and makes a walk along the marks end: it falls by
// one at each step.
class child_mark {
  public:
    constexpr child_mark() noexcept = default; // none
    // Of the child that is submitted after the one of this mark, in the slot at this distance from its
    // worker.
    constexpr child_mark next(std::uintptr_t distance) const noexcept {
        return child_mark((word_ & ~distance_mask) + one_number + distance);
    }
    constexpr explicit operator bool() const noexcept { return (word_ & distance_mask) != 0; }
    constexpr std::uintptr_t distance() const noexcept { return word_ & distance_mask; }
    // True if a child that was submitted after the one of `older` has the number of this mark.
    constexpr bool follows(child_mark older) const noexcept {
        return (word_ & ~distance_mask) == (older.word_ & ~distance_mask) + one_number;
    }

  private:
    // No task has distance 0. A number that is used again, after 2^32 children, does no harm.
    static constexpr std::uint64_t one_number = std::uint64_t{1} << 32;
    static constexpr std::uint64_t distance_mask = one_number - 1;
    constexpr explicit child_mark(std::uint64_t word) noexcept : word_(word) {}
    std::uint64_t word_ = 0;
};

static_assert(!child_mark() && child_mark().next(5).distance() == 5);
static_assert(child_mark().next(5).follows(child_mark()) &&
              !child_mark().next(5).next(6).follows(child_mark()));

// Blocks are aligned to cache lines. The first line is that of other threads: they start children, and end
// them. The second is the generator's.
struct omp_task {
    union {
        team_member *self;       // from its start on: the thread of the team that runs it
        const omp_task *reached; // before: see `began`
    };
    omp_task *parent;
    child_counter base;        // its last member begins the second line
    thread_state *at;          // from its start on: that thread
    child_counter *counted_in; // null: counted nowhere (an implicit task)
    child_counter *innermost;  // &base, or the innermost open taskgroup
    void (*function)(void *);
    void *data;
    std::uint32_t flags;
    std::uint32_t block; // class of this block
    child_mark newest_child;
    attachments *more = nullptr;
    const icv_set *own_icvs = nullptr; // null: those of the parent
    // The stamp of its thread when it started. Before the start: the constraint of the thread
    // `at` for which the ancestors were searched, up to `reached`.
    std::uint64_t began = unknown;
    static constexpr std::uint64_t unknown = 0;
    // For front ends:
    alignas(16) std::uint64_t data_size; // of one that copies tasks
    omp_task *of_data; // this one, if the front end knows tasks by their data: the word before the data

    // The others are set by the generator, at the start, or where they are needed.
    omp_task(omp_task *parent, child_counter *counted_in, std::uint32_t flags,
             std::uint32_t block) noexcept // NOLINT
        : parent(parent), base(this), counted_in(counted_in), innermost(&base), flags(flags), block(block) {}
    // It starts as a task of m, on that thread.
    void start(team_member *m, thread_state *thread, std::uint64_t began_with) noexcept {
        FULT_ASSERT(m && is_here_or_implicit(thread), "an explicit task starts on its thread");
        self = m;
        at = thread;
        base.at = thread;
        began = began_with;
    }
    void start(team_member *m, thread_state *thread) noexcept { start(m, thread, thread->constraints.stamp); }
    // In place of its parent, whatever its thread admits. Its waits constrain what begins there, as those of
    // the parent do: so it is tied.
    void start_undeferred(const omp_task *me) noexcept {
        flags &= ~std::uint32_t{is_untied};
        start(me->self, me->at, me->began);
    }
    bool is_here_or_implicit(const thread_state *thread) const noexcept {
        return has(is_implicit) || is_here(thread);
    }
    bool has(std::uint32_t f) const noexcept { return (flags & f) != 0; }
    attachments &attach() { return *(more ? more : more = new attachments); }
    const icv_set *icvs() const noexcept {
        const omp_task *f = this;
        while (!f->own_icvs) {
            FULT_ASSERT(f->parent, "an implicit task has control variables");
            f = f->parent;
        }
        return f->own_icvs;
    }
    inline team *in() const noexcept; // of a task that has started (team.hpp)
};
static_assert(offsetof(omp_task, base) + offsetof(child_counter, live) == 64);
static_assert(offsetof(omp_task, newest_child) + sizeof(child_mark) == 128);
static_assert(sizeof(omp_task) <= min_block && sizeof(group_counter) <= min_block);
static_assert(sizeof(omp_task) % 16 == 0 &&
              offsetof(omp_task, of_data) + sizeof(omp_task *) == sizeof(omp_task));

// Whether the program uses priorities and cancellation, and whether the schedulers decide about each task,
// so that none runs in place of its waiting parent: set when the control variables are read.
extern bool priorities_enabled, cancellation_enabled, schedulers_choose;
inline bool has_priority(const omp_task *f) noexcept {
    return f->more && f->more->priority > 0 && priorities_enabled;
}
bool is_cancelled_slow(const omp_task *f) noexcept;
// True if f must not start any more: its region, or a taskgroup around it, was cancelled.
FULT_ALWAYS_INLINE bool is_cancelled(const omp_task *f) noexcept {
    return cancellation_enabled && is_cancelled_slow(f);
}

// The operations of the runtime's tasks that run OpenMP tasks, and what is in their storage.
extern const detail::task_ops omp_task_ops;
struct stored_task {
    omp_task *f;
    child_mark older; // the child of the same parent that was submitted before; none: not known
};

inline omp_task *&stored_omp_task(detail::task *t) noexcept { return detail::storage_as<stored_task>(*t).f; }

// Where the running OpenMP task is kept, on a worker; null if the runtime's task is none, or on a foreign
// thread. It stays there, as the runtime's task is tied.
FULT_ALWAYS_INLINE omp_task **current_task_word() noexcept {
    detail::task *const t = detail::running_task();
    return t && t->ops == &omp_task_ops ? &stored_omp_task(t) : nullptr;
}
// That task, or null.
FULT_ALWAYS_INLINE omp_task *task_on_worker() noexcept {
    omp_task **const word = current_task_word();
    return word ? *word : nullptr;
}

// The running OpenMP task. On a thread that has none, begins the thread's initial task.
omp_task *initial_task();
FULT_ALWAYS_INLINE omp_task *current_task() {
    omp_task *const f = task_on_worker();
    return f ? f : initial_task();
}
// Makes f the running task of this thread, in place of the present one.
void set_current_task(omp_task *f) noexcept;

} // namespace fult::omp
