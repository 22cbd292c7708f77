#include "tasks.hpp"

#include <bit>
#include <cstdlib>
#include <exception>

#include <fult/detail/assertion.hpp>
#include <fult/detail/tied.hpp>
#include <fult/loops/ticks.hpp>
#include <fult/spawn.hpp>
#include <fult/this_task.hpp>

#include "cancel.hpp"
#include "depend.hpp"
#include "dependence_table.hpp"
#include "detach.hpp"
#include "error.hpp"
#include "fult/base/sanitizer.hpp"
#include "taskyield.hpp"
#include "threads.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

using detail::run_above;
using detail::slot_after;
using detail::task;
using detail::worker_hot;

// On the thread of `m`, as its current task.
FULT_ALWAYS_INLINE void run_body(omp_task *f, team_member *m) {
    f->start(m, m->at);
    FULT_ASSERT(f->base.has_ended() && f->innermost == &f->base, "a task that starts has generated none");
    FULT_ASSERT(!f->has(is_final) || f->has(generates_slowly), "a final task generates final ones");
    if (!f->has(generates_slowly) || f->has(owns_objects) || !is_cancelled(f)) [[likely]]
        f->function(f->data);
    else if (has_event(f))
        discard_event(f);
    end_body(f);
}

// The same for a child, from its parent, which is not waiting yet: the end is counted by plain stores.
FULT_ALWAYS_INLINE void run_child(omp_task *f, const omp_task *me) {
    FULT_ASSERT(f->parent == me && !f->has(is_placeholder), "claimed, so it is the one that was found");
    f->start(me->self, me->at);
    if (f->has(generates_slowly)) [[unlikely]]
        return run_body(f, me->self);
    f->function(f->data);
    if (f->more || !f->base.is_empty()) [[unlikely]]
        return end_body_slowly(f);
    FULT_ASSERT(f->counted_in->owner == me &&
                    me->base.mode.load(std::memory_order_relaxed) == wait_mode::counting,
                "it counts for its parent, which runs it and does not wait");
    f->counted_in->live -= one_task;
    me->at->blocks.give(f->block, f);
}

// The newest child of `me` that is private to this worker and has not started; its mark is that of `me` then.
// Children that have are forgotten. A thief may have taken the task: then the claim fails.
FULT_RACY_READ task *newest_child(worker_hot *w, omp_task *me) noexcept {
    child_mark &newest = me->newest_child;
    while (newest) {
        task *const t = detail::task_at_distance(w, newest.distance());
        const auto &stored = detail::storage_as<stored_task>(*t);
        if (t->ops != &omp_task_ops || !newest.follows(stored.older)) // the slot has another task
            break;
        if (detail::is_unstarted_private(w, newest.distance())) {
            if (stored.f->parent != me)
                break;
            return t;
        }
        newest = stored.older;
    }
    newest = {};
    return nullptr;
}

// Children of the task that yields on this thread, on a stack on which another task has just ended: so the
// scheduler is asked once for many of them. Such a child may suspend, and the task go on, and end. What ended
// before may have been the last of its region: neither it nor its member is read.
FULT_NOINLINE void run_children_of_yielding(const thread_state *at) {
    if (priorities_enabled)
        return;
    worker_hot *const w = detail::current_worker();
    while (at->yielding.last) { // suspended, so its region is open
        omp_task *const generator = at->yielding.last->tied();
        task *const t = newest_child(w, generator);
        if (!t || yielding_task::excludes_children_of(generator) || !detail::claim_private(w, t))
            return;
        const stored_task stored = detail::storage_as<stored_task>(*t);
        generator->newest_child = stored.older;
        run_above<slot_after::free> run(w, t);
        run_body(stored.f, generator->self);
    }
}

// Runs the body on the runtime's task, the first on its stack.
void run_tied(omp_task *f, team_member *m) {
    if (detail::tie_current()) {
        const thread_state *const at = m->at;
        run_body(f, m);
        if (at->yielding.last)
            run_children_of_yielding(at);
        detail::untie_current();
    } else {
        const detail::tied_above here(&omp_task_ops, f);
        run_body(f, m);
    }
}

// A task with dependences of another thread's.
FULT_NOINLINE void run_stolen_dependent(omp_task *f, team_member *m) {
    thread_state *const at = m->at;
    const thread_state *const home = f->parent->base.at;
    const std::uint64_t begin = detail::ticks();
    run_tied(f, m);
    if (at->yielding.last) // then it may have run other tasks too
        return;
    at->taken.ran(detail::ticks() - begin);
    if (at->taken.are_small())
        at->taken.pause(home->worker);
}

// A worker outside the team has stolen the task: it goes to one of the team.
void pass_to_team(omp_task *f) {
    FULT_ASSERT(!f->has(is_implicit), "a member is never stolen");
    const unsigned target = f->parent->in()->some_worker();
    task *const t = detail::take_slot_with({.worker = static_cast<int>(target), .pinned = true});
    t->ops = &omp_task_ops;
    stored_omp_task(t) = f;
    detail::make_ready_slow(t);
}

// A member of a team, and of the next ones that find this task at its gate. Values of the task end with it.
void run_members(task &t) noexcept {
    team_member &m = *stored_omp_task(&t)->self;
    for (;;) {
        run_member(m);
        const bool stays = !t.extras;
        const unsigned ended = m.gate.end(stays);
        if (!stays || !m.gate.await(ended))
            return;
        begin_member(m);
    }
}

// Runs on a stack of its own.
void run_omp_task(task &t) noexcept {
    // No other thread touches the join word, so `complete` finds what is stored here.
    t.join.store(detail::join_detached, std::memory_order_relaxed);
    omp_task *f = stored_omp_task(&t);
    if (f->has(is_implicit))
        return run_members(t);
    if (priorities_enabled && !(f = stored_omp_task(&t) = take_by_priority(f))) [[unlikely]]
        return;
    team_member *const m = f->parent->in()->member_on(static_cast<unsigned>(this_task::worker()));
    if (!m) [[unlikely]]
        return pass_to_team(f);
    if (m->at->yielding.last && yielding_task::hold_back(*m, f)) [[unlikely]]
        return;
    if (f->more && f->more->node && f->parent->base.at != m->at)
        return run_stolen_dependent(f, m);
    run_tied(f, m);
}
void drop_nothing(task &) noexcept {}

} // namespace

bool priorities_enabled = false;

const detail::task_ops omp_task_ops{&run_omp_task, &drop_nothing};

void run_own_children(omp_task *me) {
    if (priorities_enabled) // the schedulers choose
        return;
    worker_hot *w = detail::current_worker();
    yielding_tasks &yielding = me->at->yielding;
    std::uint64_t admitted_at = 0; // no number of changes
    while (task *const t = newest_child(w, me)) {
        if (yielding.last) [[unlikely]] {
            if (admitted_at != yielding.changes && yielding_task::excludes_children_of(me))
                return; // they start by run_omp_task, which holds them back
            admitted_at = yielding.changes;
            yielding.admitted = me;
        }
        if (!detail::claim_private(w, t)) {
            if (!detail::is_stack_low(w))
                return;
            detail::end_inline_row();
            if (detail::is_stack_low(w))
                return;
            continue;
        }
        me->newest_child = detail::storage_as<stored_task>(*t).older;
        run_above<slot_after::free> run(w, t);
        run_child(stored_omp_task(t), me);
    }
}

void run_undeferred(omp_task *me, omp_task *f) {
    if (detail::running_task() && !task_on_worker()) [[unlikely]] { // as in open_region
        const detail::tied_above here(&omp_task_ops, f);
        return run_body(f, me->self);
    }
    set_current_task(f);
    run_body(f, me->self);
    set_current_task(me);
}

void run_plain_slowly(omp_task *me, void (*function)(void *), void *data, std::uint32_t flags) {
    omp_task *const f = new_task(me, 0, 1, flags);
    f->function = function;
    f->data = data;
    run_undeferred(me, f);
}

void begin_undeferred(omp_task *me, omp_task *f) noexcept {
    FULT_ASSERT(f->parent == me, "the parent runs it");
    f->start(me->self, me->at);
    set_current_task(f);
}

void end_undeferred(omp_task *me, omp_task *f) noexcept {
    end_body(f);
    set_current_task(me);
}

namespace {

// In a slot that take() finds. `newest` is written if that is one of this worker's own.
template <class Take> void submit_in(const Take &take, omp_task *f, child_mark &newest) {
    try {
        task *const t = take();
        t->ops = &omp_task_ops;
        if (worker_hot *const w = detail::current_worker(); w == detail::home_of(t))
            link_child(w, t, f, newest);
        else
            ::new (static_cast<void *>(t->storage)) stored_task{f, {}};
        detail::make_ready_slow(t);
    } catch (const std::exception &error) {
        fail("a task cannot be spawned: %s", error.what());
    }
}
void submit_slowly(omp_task *f, child_mark &newest) { submit_in(detail::take_slot_slow, f, newest); }

} // namespace

// It is here once in a word of slots: often enough to look how many there are.
void submit_generated_slowly(omp_task *f) {
    omp_task *const me = f->parent;
    submit_slowly(f, me->newest_child);
    if (has_many_children(me))
        let_some_run(me);
}

void submit_slowly(omp_task *f) {
    child_mark apart;
    submit_slowly(f, apart);
}

namespace {

// A small task whose predecessor this thread has taken from the parent's.
bool returns_to_parent(const omp_task *f, const thread_state *at) noexcept {
    const thread_state *const home = f->parent->base.at;
    return home != at && home->worker != thread_state::no_worker && at->taken.go_back();
}

void submit_to_parent(omp_task *f) {
    const auto take = [home = f->parent->base.at->worker] {
        return detail::take_slot_with({.worker = static_cast<int>(home)});
    };
    child_mark apart;
    submit_in(take, f, apart);
}

} // namespace

void submit_successor(omp_task *f, thread_state *at) {
    FULT_ASSERT(is_here(at));
    if (has_priority(f))
        return submit_with_priority(f);
    if (returns_to_parent(f, at))
        return submit_to_parent(f);
    child_mark apart;
    child_mark &newest = f->parent->base.at == at ? f->parent->newest_child : apart;
    if (!detail::has_private_slot(detail::current_worker()))
        submit_slowly(f, newest);
    else
        submit_fast(f, newest);
}

// The word in front of the data is the task's address.
omp_task *allocate_large_task(omp_task *me, std::size_t size, std::size_t align, std::uint32_t flags) {
    auto *const f =
        ::new (me->at->blocks.take(0)) omp_task(me, me->innermost, flags | (me->flags & inherited_flags), 0);
    if (align < 16)
        align = 16;
    FULT_ASSERT(std::has_single_bit(align), "the alignment of a type");
    void *const block = f->attach().block =
        std::aligned_alloc(align, (size + align - 1) / align * align + align);
    if (!block)
        fail("no memory for the %zu bytes of data of a task", size);
    f->data = static_cast<char *>(block) + align;
    static_cast<omp_task **>(f->data)[-1] = f;
    return f;
}

void free_attachments(omp_task *f) noexcept {
    if (f->more->on_end)
        f->more->on_end(f);
    std::free(f->more->block);
    if (f->more->children)
        forget_dependences(f);
    dependence_node *const n = f->more->node;
    if (!n || f->more != &n->more)
        delete f->more;
    if (n)
        drop_node(n, this_thread());
}

void end_tree(omp_task *f, const thread_state *at) noexcept {
    FULT_ASSERT(f->base.mode.load(std::memory_order_relaxed) == wait_mode::zombie, "its body has ended");
    if (!f->counted_in)
        return delete_initial_task(f);
    child_counter &s = *f->counted_in;
    free_task(f, this_thread());
    count_end(s, one_tree, at);
}

void end_body_slowly(omp_task *f) noexcept {
    if (f->more) {
        if (f->more->event)
            return end_body_with_event(f);
        if (f->more->node)
            release_successors(f, f->at);
    }
    child_counter &s = *f->counted_in;
    thread_state *const at = f->at;
    if (f->base.outstanding() == 0) {
        free_task(f, at);
        count_end(s, one_task, at);
        return;
    }
    count_end(s, one_body, at);
    become_zombie(f, 0);
}

void become_zombie(omp_task *f, std::int64_t held) noexcept {
    child_counter &own = f->base;
    FULT_ASSERT(own.mode.load(std::memory_order_relaxed) == wait_mode::counting, "a task ends once");
    FULT_ASSERT(held == 0 || held == one_tree);
    own.mode.store(wait_mode::zombie, std::memory_order_relaxed);
    const std::int64_t mine = std::exchange(own.live, 0) + held;
    const std::int64_t ended =
        own.elsewhere.fetch_add(units_of(wait_mode::zombie) - mine, std::memory_order_acq_rel); // count_end
    FULT_ASSERT(mode_of(ended) == wait_mode::counting && is_count(mine - ended));
    if (trees_in(mine - ended) == 0)
        end_tree(f, f->at);
}

} // namespace fult::omp
