// Explicit tasks: generation, execution and end.
#pragma once

#include <new>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "omp_task.hpp"
#include "team.hpp"

namespace fult::omp {

// A task with room for `size` bytes of data, counted in the innermost counter of `me`. Throws std::bad_alloc.
FULT_ALWAYS_INLINE omp_task *new_task(omp_task *me, std::size_t size, std::size_t align, std::uint32_t flags);
// Both without a call: if can_submit_fast, for a task whose data fit into a block of the least size, and
// whose flags are none that change how it starts.
FULT_ALWAYS_INLINE bool can_submit_fast(const omp_task *me) noexcept;
FULT_ALWAYS_INLINE omp_task *new_small_task(omp_task *me, std::uint32_t flags) noexcept;
FULT_ALWAYS_INLINE void submit_fast(omp_task *f, child_mark &newest) noexcept;
// The two halves of that. Between them the task is the caller's alone, which may give it back by free_task.
FULT_ALWAYS_INLINE omp_task *allocate_task(omp_task *me, std::size_t size, std::size_t align,
                                           std::uint32_t flags);
FULT_ALWAYS_INLINE void count_child(omp_task *me, omp_task *f) noexcept;
// Makes it runnable, from the thread of its generator. If that has very many tasks already, it runs now.
FULT_ALWAYS_INLINE void submit(omp_task *f);
// The same for one whose last predecessor has ended, from any thread: `at` is the caller's. Without a free
// slot it goes to the queue of the team.
void submit_successor(omp_task *f, thread_state *at);
// The same in a slot, of any worker. A wait of its parent does not look for it.
void submit_at(detail::task *slot, omp_task *f) noexcept;
// Runs it in place of `me`, now.
void run_undeferred(omp_task *me, omp_task *f);
// The same for a task without clauses, which needs nothing but itself: the data stay the caller's. `running`
// is where the running task of this thread is kept.
FULT_ALWAYS_INLINE void run_plain(omp_task *me, omp_task *&running, void (*function)(void *), void *data,
                                  std::uint32_t flags);
void run_plain_slowly(omp_task *me, void (*function)(void *), void *data, std::uint32_t flags);
// The same on a foreign thread, or in a task of the runtime's that is not OpenMP's. False if it is to be
// deferred, and may be.
bool run_plain_elsewhere(void (*function)(void *), void *data, std::uint32_t flags, bool may_defer);
// The same for an interface that calls the body itself.
void begin_undeferred(omp_task *me, omp_task *f) noexcept;
void end_undeferred(omp_task *me, omp_task *f) noexcept;

// Runs children of `me`, which waits and admits `what` meanwhile, above it on this stack: those that are
// private to this worker, newest first. Returns when there are no more of them that may begin here, or others
// need a turn.
void run_own_children(omp_task *me, begins what);
// Waits for all children. Suspends, unless they can all be run here.
inline void taskwait(omp_task *me);
void taskwait_slowly(omp_task *me);

// True if a task that `me` generates must be undeferred: there is no team, or a thread alone, outside the
// runtime.
inline bool runs_undeferred(const omp_task *me) noexcept {
    return me->has(generates_slowly) && (me->in()->is_serial || me->has(is_final));
}

// Of a task whose body has returned on its thread.
FULT_ALWAYS_INLINE void end_body(omp_task *f) noexcept;
void end_body_slowly(omp_task *f) noexcept; // with dependences, an event, or living descendants
// Of a task whose body has ended, and all whose descendants have.
void end_tree(omp_task *f, const thread_state *at) noexcept;
void become_zombie(omp_task *f, std::int64_t held) noexcept; // its descendants end its tree
void free_task(omp_task *f, thread_state *at) noexcept;
void free_attachments(omp_task *f) noexcept;

void submit_generated_slowly(omp_task *f);
// On a worker, whose tasks suspend until there is one; or on a foreign thread.
detail::task *await_slot(team &t) noexcept;
omp_task *allocate_large_task(omp_task *me, std::size_t size, std::size_t align, std::uint32_t flags);

// Implementation ---------------------------------------------------------------------------------------------------------------

FULT_ALWAYS_INLINE omp_task *allocate_task(omp_task *me, std::size_t size, std::size_t align,
                                           std::uint32_t flags) {
    FULT_ASSERT(is_here(me->at), "a task generates others on its thread");
    if (align > 16 || size > largest_block - sizeof(omp_task)) [[unlikely]]
        return allocate_large_task(me, size, align, flags);
    const unsigned c = block_class(sizeof(omp_task) + size);
    auto *const f =
        ::new (me->at->blocks.take(c)) omp_task(me, me->innermost, flags | (me->flags & inherited_flags), c);
    f->data = f + 1;
    return f;
}

FULT_ALWAYS_INLINE void count_child(omp_task *me, omp_task *f) noexcept {
    FULT_ASSERT(f->parent == me && is_here(me->at), "a child is counted by its generator");
    f->counted_in = me->innermost;
    me->innermost->live += one_task;
}

FULT_ALWAYS_INLINE omp_task *new_task(omp_task *me, std::size_t size, std::size_t align,
                                      std::uint32_t flags) {
    omp_task *const f = allocate_task(me, size, align, flags);
    me->innermost->live += one_task;
    return f;
}

FULT_ALWAYS_INLINE bool can_submit_fast(const omp_task *me) noexcept {
    return detail::has_private_slot(detail::current_worker()) && !me->at->blocks.is_empty(0);
}

FULT_ALWAYS_INLINE omp_task *new_small_task(omp_task *me, std::uint32_t flags) noexcept {
    FULT_ASSERT(!me->has(inherited_flags), "this task has none");
    auto *const f = ::new (me->at->blocks.take_first()) omp_task(me, me->innermost, flags, 0);
    f->data = f + 1;
    me->innermost->live += one_task;
    return f;
}

// Makes the task t of f the newest child of its parent.
FULT_ALWAYS_INLINE void link_child(const detail::worker_hot *w, detail::task *t, omp_task *f,
                                   child_mark &newest) noexcept {
    ::new (static_cast<void *>(t->storage)) stored_task{f, newest};
    newest = newest.next(detail::distance_in_slots(w, t));
}

FULT_ALWAYS_INLINE void submit_fast(omp_task *f, child_mark &newest) noexcept {
    detail::worker_hot *const w = detail::current_worker();
    detail::task *const t = detail::take_private_slot(w);
    detail::count_in_row(w);
    t->ops = &omp_task_ops;
    link_child(w, t, f, newest);
    detail::make_ready_private(w, t);
}

FULT_ALWAYS_INLINE void submit(omp_task *f) {
    FULT_ASSERT(f->parent && f->counted_in && f->function, "an explicit task that its parent has counted");
    if (has_priority(f)) [[unlikely]]
        f->parent->in()->queue.add(f);
    else if (!detail::has_private_slot(detail::current_worker())) [[unlikely]]
        submit_generated_slowly(f);
    else
        submit_fast(f, f->parent->newest_child);
}

FULT_ALWAYS_INLINE void free_task(omp_task *f, thread_state *at) noexcept {
    FULT_ASSERT(is_here(at) && f->block < block_classes);
    FULT_ASSERT(f->base.has_ended(), "a task is used again when all descendants have ended");
    if (f->more) [[unlikely]]
        free_attachments(f);
    at->blocks.give(f->block, f);
}

FULT_ALWAYS_INLINE void end_body(omp_task *f) noexcept {
    FULT_ASSERT(!f->has(is_implicit) && f->counted_in, "the others end with their regions");
    FULT_ASSERT(is_here(f->at), "a tied task ends where it started");
    FULT_ASSERT(f->innermost == &f->base, "a task ends its taskgroups");
    if (f->more || !f->base.is_empty()) [[unlikely]]
        return end_body_slowly(f);
    child_counter &s = *f->counted_in;
    thread_state *const at = f->at;
    at->blocks.give(f->block, f);
    count_end(s, one_task, at);
}

inline void taskwait(omp_task *me) {
    if (me->base.is_empty() && me->innermost == &me->base)
        return;
    run_own_children(me, begins::descendants);
    if (!me->base.is_empty() || me->innermost != &me->base)
        taskwait_slowly(me);
}

// It is counted only if something of it is left when its body has ended: until then the counts of `me`, which
// waits for it, are not read.
FULT_ALWAYS_INLINE void run_plain(omp_task *me, omp_task *&running, void (*function)(void *), void *data,
                                  std::uint32_t flags) {
    FULT_ASSERT(running == me && is_here(me->at));
    thread_state *const at = me->at;
    if (at->blocks.is_empty(0)) [[unlikely]]
        return run_plain_slowly(me, function, data, flags);
    auto *const f =
        ::new (at->blocks.take_first()) omp_task(me, me->innermost, flags | (me->flags & inherited_flags), 0);
    f->function = function;
    f->data = data;
    f->start_undeferred(me);
    running = f;
    function(data);
    FULT_ASSERT(running == f && is_here(at) && f->innermost == &f->base, "as in end_body");
    running = me;
    if (f->more || !f->base.is_empty()) [[unlikely]] {
        count_child(me, f);
        return end_body_slowly(f);
    }
    at->blocks.give(0, f);
}

// Implementation of child_counter.hpp
FULT_ALWAYS_INLINE void count_end(child_counter &s, std::int64_t n, const thread_state *at) noexcept {
    FULT_ASSERT(!at || is_here(at));
    if (at && at == s.at && s.mode.load(std::memory_order_relaxed) == wait_mode::counting) [[likely]]
        s.live -= n;
    else
        count_end_elsewhere(s, n, at);
}

} // namespace fult::omp
