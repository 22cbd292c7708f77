#include "tasks.hpp"

#include <bit>
#include <cstdlib>
#include <exception>

#include <fult/detail/assertion.hpp>
#include <fult/detail/service.hpp>
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

// It has started, as the current task of its thread.
FULT_ALWAYS_INLINE void run_started(omp_task *f) {
    FULT_ASSERT(f->base.has_ended() && f->innermost == &f->base, "a task that starts has generated none");
    FULT_ASSERT(!f->has(is_final) || f->has(generates_slowly), "a final task generates final ones");
    if (!f->has(generates_slowly) || f->has(owns_objects) || !is_cancelled(f)) [[likely]]
        f->function(f->data);
    else if (has_event(f))
        discard_event(f);
    end_body(f);
}

// On the thread of `m`, as its current task.
FULT_ALWAYS_INLINE void run_body(omp_task *f, team_member *m) {
    f->start(m, m->at);
    run_started(f);
}

void run_body_undeferred(omp_task *f, const omp_task *me) {
    f->start_undeferred(me);
    run_started(f);
}

// A slot for a task above one that is not OpenMP's, which may not suspend: it is not tied yet.
task *slot_above() noexcept {
    task *const slot = detail::try_take_slot(detail::if_many::last);
    if (!slot)
        fail("a task of the runtime cannot begin an OpenMP task: the table of its worker is full; raise "
             "FULT_MAX_TASKS");
    return slot;
}

// The same for a child, from its parent, which is not waiting yet: the end is counted by plain stores.
FULT_ALWAYS_INLINE void run_child(omp_task *f, const omp_task *me) {
    FULT_ASSERT(f->parent == me && !f->has(is_placeholder), "claimed, so it is the one that was found");
    f->start(me->self, me->at);
    if (f->has(generates_slowly)) [[unlikely]]
        return run_started(f);
    f->function(f->data);
    if (f->more || !f->base.is_empty()) [[unlikely]]
        return end_body_slowly(f);
    FULT_ASSERT(f->counted_in->owner == me &&
                    me->base.mode.load(std::memory_order_relaxed) == wait_mode::counting,
                "it counts for its parent, which runs it and does not wait");
    f->counted_in->live -= one_task;
    me->at->blocks.give(f->block, f);
}

FULT_NOINLINE void run_untied_child(worker_hot *w, task *t, omp_task *me, begins what) {
    const omp_in_place here(me, what);
    run_above<slot_after::free> run(w, t);
    run_child(stored_omp_task(t), me);
}

// The member as which f begins on this worker. The scheduler has asked whether it may, or did not have to.
// Null: the worker is outside the team, or its member has not begun.
team_member *member_here(omp_task *f) noexcept {
    team_member *m = member_for(f);
    if (m) [[likely]]
        return m;
    m = f->parent->in()->member_on(detail::deciding_worker());
    while (m && !m->has_begun())
        m = m->next_here;
    return m;
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

bool is_yielding(const thread_constraints &here) noexcept {
    return here.newest && here.newest->ends == until::turn && here.newest->what == begins::descendants &&
           !here.has_apart();
}

// Children of the task that yields on this thread, on a stack on which another task has just ended: so the
// scheduler is asked once for many of them. Such a child may suspend, and the task go on, and end. What ended
// before may have been the last of its region: neither it nor its member is read.
FULT_NOINLINE void run_children_of_yielding(const thread_state *at) {
    if (schedulers_choose)
        return;
    worker_hot *const w = detail::current_worker();
    while (is_yielding(at->constraints)) { // suspended, so its region is open
        omp_task *const generator = at->constraints.newest->task;
        task *const t = newest_child(w, generator);
        if (!t || !detail::claim_private(w, t))
            return;
        const stored_task stored = detail::storage_as<stored_task>(*t);
        generator->newest_child = stored.older;
        run_above<slot_after::free> run(w, t);
        run_body(stored.f, generator->self);
    }
}

// A task with dependences of another thread's.
FULT_NOINLINE void run_stolen_dependent(omp_task *f, team_member *m) {
    thread_state *const at = m->at;
    const thread_state *const home = f->parent->base.at;
    const std::uint64_t begin = detail::ticks();
    run_body(f, m);
    at->taken.ran(detail::ticks() - begin);
    if (at->taken.are_small())
        at->taken.pause(home->worker);
}

template <class Take> task *take_slot(const Take &take) noexcept {
    try {
        return take();
    } catch (const std::exception &error) {
        fail("a task cannot be spawned: %s", error.what());
    }
}
task *foreign_slot_if_free() noexcept {
    try {
        return detail::take_slot_slow();
    } catch (const std::exception &) {
        return nullptr;
    }
}

// At that worker, or null.
task *slot_at_if_free(unsigned worker) noexcept {
    const detail::no_suspension_in_spawn meanwhile;
    try {
        return detail::take_slot_with({.worker = static_cast<int>(worker)});
    } catch (const std::exception &) {
        return nullptr;
    }
}

// False: there is no slot.
bool submit_if_free(omp_task *f, child_mark &newest, detail::if_many taken) {
    task *const t = detail::running_task()             ? detail::try_take_slot(taken)
                    : taken == detail::if_many::refuse ? foreign_slot_if_free()
                                                       : take_slot(detail::take_slot_slow);
    if (!t)
        return false;
    if (worker_hot *const w = detail::current_worker(); w == detail::home_of(t)) {
        t->ops = &omp_task_ops;
        link_child(w, t, f, newest);
        detail::make_ready_slow(t);
    } else {
        submit_at(t, f);
    }
    return true;
}

// What `take` finds; until then other tasks run.
template <class Take> task *slot_in_turn(const Take &take) noexcept {
    task *slot = take();
    while (!slot) {
        this_task::yield();
        slot = take();
    }
    return slot;
}

// The task goes to another worker of the team, or to this one, which begins its member first. Thieves outside
// the team leave it there (may_start).
void pass_to_team(omp_task *f) {
    FULT_ASSERT(!f->has(is_implicit), "a member is never stolen");
    submit_at(slot_in_turn([f] { return slot_at_if_free(f->parent->in()->some_worker()); }), f);
}

// A member of a team, and of the next ones that find this task at its gate. Values of the task end with it.
void run_members(task &t) noexcept {
    team_member &m = *stored_omp_task(&t)->self;
    const omp_stack here(m.at);
    for (;;) {
        run_member(m);
        const bool stays = !t.extras;
        const unsigned ended = m.gate.end(stays);
        if (!stays || !m.gate.await(ended))
            return;
        begin_member(m);
    }
}

// As the first task of OpenMP's on this stack, which is tied to this worker, the one of m.
void run_first(omp_task *f, team_member *m) {
    thread_state *const at = m->at;
    if (f->more && f->more->node && f->parent->base.at != at)
        run_stolen_dependent(f, m);
    else
        run_body(f, m);
    if (is_yielding(at->constraints))
        run_children_of_yielding(at);
}

// The runtime's task is not at home, or it may have waited for a slot: whether f may begin is looked up
// again. Until it is tied, its worker may change whenever it suspends.
void run_away_from_home(omp_task *f) {
    task *const slot = slot_in_turn([] { return detail::try_take_slot(detail::if_many::last); });
    if (!may_begin(f))
        return submit_at(slot, f);
    team_member *const m = member_here(f); // before this stack is counted
    const omp_above here(slot, f);
    run_first(f, m);
}

// Runs on a stack of its own.
void run_omp_task(task &t) noexcept {
    // No other thread touches the join word, so `complete` finds what is stored here.
    t.join.store(detail::join_detached, std::memory_order_relaxed);
    omp_task *f = stored_omp_task(&t);
    if (f->has(is_implicit))
        return run_members(t);
    if (priorities_enabled || f->has(is_placeholder | leaves_slot)) [[unlikely]]
        if (f = stored_omp_task(&t) = f->parent->in()->queue.take(f); !f)
            return;
    if (!detail::tie_current())
        return run_away_from_home(f);
    if (team_member *const m = member_here(f)) [[likely]] {
        const omp_stack here(m->at);
        run_first(f, m);
    } else {
        pass_to_team(f);
    }
    detail::untie_current();
}

void drop_nothing(task &) noexcept {}

} // namespace

bool priorities_enabled = false, schedulers_choose = false;

const detail::task_ops omp_task_ops{&run_omp_task, &drop_nothing, &may_start};

void run_own_children(omp_task *me, begins what) {
    if (schedulers_choose)
        return;
    worker_hot *w = detail::current_worker();
    const thread_constraints &constraints = me->at->constraints;
    std::uint64_t admitted_by = 0; // no number of a constraint
    while (task *const t = newest_child(w, me)) {
        if (const constraint *const newest = constraints.newest; newest && newest->number != admitted_by)
            [[unlikely]] {
            if (!may_begin_children(me))
                return;
            admitted_by = newest->number;
        }
        if (!detail::claim_private(w, t)) {
            if (!detail::is_stack_low(w))
                return;
            {
                const omp_wait here(what);
                detail::end_inline_row();
            }
            if (detail::is_stack_low(w))
                return;
            continue;
        }
        me->newest_child = detail::storage_as<stored_task>(*t).older;
        omp_task *const f = stored_omp_task(t);
        if (f->has(is_untied)) [[unlikely]] {
            run_untied_child(w, t, me, what);
            continue;
        }
        run_above<slot_after::free> run(w, t);
        run_child(f, me);
    }
}

void run_undeferred(omp_task *me, omp_task *f) {
    if (detail::running_task() && !task_on_worker()) [[unlikely]] { // as in open_region
        const omp_above here(slot_above(), f);
        return run_body_undeferred(f, me);
    }
    set_current_task(f);
    run_body_undeferred(f, me);
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
    f->start_undeferred(me);
    set_current_task(f);
}

void end_undeferred(omp_task *me, omp_task *f) noexcept {
    end_body(f);
    set_current_task(me);
}

// It is here once in a word of slots: often enough to look how many there are. Very many of them need memory,
// and it helps no other thread that there are more: as libgomp does with fewer, the generator runs this one,
// if it may begin here: not where the generator went on below another task.
void submit_generated_slowly(omp_task *f) {
    omp_task *const me = f->parent;
    if (!submit_if_free(f, me->newest_child, detail::if_many::refuse)) {
        if (may_begin_children(me))
            run_undeferred(me, f);
        else
            me->in()->queue.add(f);
    } else {
        limit_children(me);
    }
}

task *await_slot(team &t) noexcept {
    if (!detail::running_task())
        return take_slot(detail::take_slot_slow);
    return slot_in_turn([&t] {
        task *const slot = detail::try_take_slot(detail::if_many::last);
        return slot ? slot : slot_at_if_free(t.some_worker());
    });
}

void submit_at(task *slot, omp_task *f) noexcept {
    slot->ops = &omp_task_ops;
    ::new (static_cast<void *>(slot->storage)) stored_task{f, {}};
    detail::make_ready_slow(slot);
}

namespace {

// A small task whose predecessor this thread has taken from the parent's.
bool returns_to_parent(const omp_task *f, const thread_state *at) noexcept {
    const thread_state *const home = f->parent->base.at;
    return home != at && home->worker != thread_state::no_worker && at->taken.go_back();
}

bool submit_to_parent(omp_task *f) {
    task *const slot = slot_at_if_free(f->parent->base.at->worker);
    if (slot)
        submit_at(slot, f);
    return slot != nullptr;
}

} // namespace

void submit_successor(omp_task *f, thread_state *at) {
    FULT_ASSERT(is_here(at));
    if (has_priority(f))
        return f->parent->in()->queue.add(f);
    if (returns_to_parent(f, at) && submit_to_parent(f))
        return;
    child_mark apart;
    child_mark &newest = f->parent->base.at == at ? f->parent->newest_child : apart;
    if (detail::has_private_slot(detail::current_worker()))
        submit_fast(f, newest);
    else if (!submit_if_free(f, newest, detail::if_many::spare))
        f->parent->in()->queue.add(f);
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
