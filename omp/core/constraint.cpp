#include "constraint.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/this_task.hpp>

#include "omp_task.hpp"
#include "team.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

// All stacks wait for something of OpenMP's, but `others`.
bool is_in_force(const thread_constraints &all, unsigned others) noexcept {
    FULT_ASSERT(all.waiting <= all.stacks, "a stack waits once");
    return all.newest && all.stacks == all.waiting + others;
}

// A stack is in a blocking call, and the thread begins nothing meanwhile.
bool is_blocked(const thread_constraints &all, unsigned others) noexcept {
    return !begins_in_blocking_calls && all.stacks > all.waiting + others;
}

// The scheduler decides next, on this thread.
void select(const thread_state *at) noexcept {
    detail::select_starts(is_in_force(at->constraints, 0) || is_blocked(at->constraints, 0));
}
// The running task may suspend in a blocking call, which is not announced.
void select_while_running() noexcept { detail::select_starts(!begins_in_blocking_calls); }

constraint *newest_of(const thread_constraints &all, const team_member *m) noexcept {
    constraint *c = all.newest;
    while (c && c->task->self != m)
        c = c->before;
    return c;
}

} // namespace

omp_wait::omp_wait(begins what, until ends) noexcept {
    omp_task *const me = task_on_worker();
    if (!me)
        return;
    at_ = me->at;
    FULT_ASSERT(is_here(at_) && at_->worker != thread_state::no_worker);
    if (what == begins::nothing || (what == begins::descendants && !me->has(is_untied))) {
        mine_.task = me;
        mine_.what = what;
        mine_.ends = ends;
        at_->constraints.push(mine_);
        if (ends == until::turn)
            at_->constraints.yields(mine_);
    }
    ++at_->constraints.waiting;
    select(at_);
}

omp_wait::~omp_wait() {
    if (!at_)
        return;
    FULT_ASSERT(is_here(at_), "a tied task resumes on its thread");
    if (mine_.task && mine_.what == begins::descendants)
        at_->constraints.await_turn(mine_);
    select_while_running();
    --at_->constraints.waiting;
    if (mine_.task)
        at_->constraints.remove(mine_);
}

omp_in_place::omp_in_place(omp_task *me, begins what) noexcept {
    if (what == begins::anything || me->has(is_untied) || me != task_on_worker())
        return;
    mine_.task = me;
    mine_.what = what;
    me->at->constraints.push(mine_);
}

omp_in_place::~omp_in_place() {
    if (!mine_.task)
        return;
    thread_constraints &all = mine_.task->at->constraints;
    if (!all.is_on_top(mine_)) {
        ++all.waiting;
        all.await_turn(mine_);
        select_while_running();
        --all.waiting;
    }
    all.remove(mine_);
}

omp_stack::omp_stack(thread_state *at) noexcept
    : at_(at), is_apart_(at->constraints.newest && !is_in_force(at->constraints, 0)) {
    FULT_ASSERT(is_here(at) && at->worker != thread_state::no_worker);
    select_while_running();
    ++at->constraints.stacks;
    at->constraints.count_apart(is_apart_ ? 1 : 0);
}

omp_stack::~omp_stack() {
    FULT_ASSERT(is_here(at_));
    --at_->constraints.stacks;
    at_->constraints.count_apart(is_apart_ ? -1 : 0);
    at_->constraints.stack_ended();
    select(at_);
}

omp_above::omp_above(detail::task *slot, omp_task *f) noexcept
    : tied_(slot, &omp_task_ops, f), counted_(this_thread()) {}

// Descent ---------------------------------------------------------------------------------------------------------------------

namespace {

enum class descent { no, yes, unknown };

// Walks from `at`, a task that has begun, to the first one. What has begun on this thread as a task of the
// same member since the constraint descends from its task; what began so before that task does not. So a
// walk is long only where many generations ran elsewhere: then it stops after some.
descent walk(const omp_task *&at, const constraint &c, unsigned most = 256) noexcept {
    const thread_state *const here = c.task->at;
    for (unsigned i = 0; i < most; ++i, at = at->parent) {
        if (at == c.task)
            return descent::yes;
        if (at->at == here && at->began != omp_task::unknown && at->self == c.task->self) {
            if (at->began >= c.number)
                return descent::yes;
            if (at->began < c.task->began)
                return descent::no;
        }
        if (!at->parent)
            return descent::no;
    }
    return descent::unknown;
}

// A walk for c has stopped, and another one goes on there.
bool is_searched(const omp_task *f, const constraint &c) noexcept {
    return f->began == c.number && f->at == c.task->at;
}

// False too if that is not known yet: f keeps where the walk has stopped. It keeps that for one constraint:
// for another one the walk does not stop.
bool descends_from_task_of(const constraint &c, omp_task *f) noexcept {
    const bool goes_on = is_searched(f, c);
    const omp_task *at = goes_on ? f->reached : f->parent;
    if (!goes_on && f->began != omp_task::unknown)
        return walk(at, c, ~0u) == descent::yes;
    const descent found = walk(at, c);
    if (found == descent::unknown) {
        f->at = c.task->at;
        f->began = c.number;
        f->reached = at;
    }
    return found == descent::yes;
}

bool admits(const constraint &c, omp_task *f) noexcept {
    return c.what != begins::nothing && descends_from_task_of(c, f);
}

// One of `all` that follows c, of the same member.
const constraint *next_of(const constraint &c) noexcept {
    const constraint *each = c.before;
    while (each && each->task->self != c.task->self)
        each = each->before;
    return each;
}

// The constraints up to one that is apart, from c on: what has begun since a blocking call let something
// begin. All of them must admit f. Goes on to those that are older.
bool group_admits(const constraint *&c, omp_task *f) noexcept {
    bool all = true;
    for (bool ends = false; c && !ends; c = next_of(*c)) {
        all = all && admits(*c, f);
        ends = c->is_apart;
    }
    return all;
}

// Groups do not constrain each other: what the tasks of each wait for must be able to begin. But those that
// others went on below keep their say, and are in front of older groups.
bool some_group_admits(const constraint *c, omp_task *f) noexcept {
    while (c && !group_admits(c, f))
        if (!c || c->is_passed == passed::yes)
            return false;
    while (c && (c->is_passed != passed::yes || admits(*c, f)))
        c = next_of(*c);
    return !c;
}

bool admits(const team_member &m, omp_task *f) noexcept {
    if (!m.has_begun())
        return false;
    const constraint *const c = constraint_on(m);
    return !c || (m.at->constraints.has_apart() ? some_group_admits(c, f) : admits(*c, f));
}

} // namespace

namespace {

bool is_apart_from(const constraint &c, const constraint *older) noexcept {
    const omp_task *at = c.task;
    return older && walk(at, *older, ~0u) != descent::yes;
}

} // namespace

void thread_constraints::push(constraint &c) noexcept {
    c.is_apart = is_apart_from(c, newest_of(*this, c.task->self));
    c.number = ++pushed_;
    c.before = newest;
    newest = &c;
    count_apart(c.is_apart ? 1 : 0);
}

void thread_constraints::remove(constraint &c) noexcept {
    int more = (c.is_apart ? -1 : 0) - (c.is_passed != passed::no ? 1 : 0);
    constraint *next = nullptr; // the one that follows the one before c
    constraint **at = &newest;
    for (; *at != &c; at = &(*at)->before)
        if ((*at)->task->self == c.task->self)
            next = *at;
    *at = c.before;
    if (next && (next->is_apart || c.is_apart)) [[unlikely]] {
        more -= next->is_apart ? 1 : 0;
        next->is_apart = is_apart_from(*next, next_of(*next));
        more += next->is_apart ? 1 : 0;
    }
    count_apart(more);
}

// What starts from now on need not descend from the tasks of newer constraints.
void thread_constraints::go_on_below(const constraint &c) noexcept {
    const passed how = is_in_force(*this, 0) ? passed::yes : passed::in_call;
    for (constraint *each = newest; each != &c; each = each->before)
        if (each->task->self == c.task->self && each->is_passed < how)
            count_apart(std::exchange(each->is_passed, how) == passed::no ? 1 : 0);
}

void thread_constraints::stack_ended() noexcept {
    if (turns_awaited_ == 0)
        return;
    for (constraint *each = newest; each; each = each->before)
        if (each->turn && is_on_top(*each))
            std::exchange(each->turn, nullptr)->grant();
}

namespace {
// The oldest that is newer than c, of the same member; null: c is the newest.
constraint *above(const thread_constraints &all, const constraint &c) noexcept {
    constraint *found = nullptr;
    for (constraint *each = all.newest; each != &c; each = each->before)
        if (each->task->self == c.task->self)
            found = each;
    return found;
}
} // namespace

bool thread_constraints::is_on_top(const constraint &c) const noexcept {
    const constraint *const next = above(*this, c);
    return !next || next->is_apart;
}

// A task above that yields again and again may poll for what the one below does next: to release a lock that
// it has while it yields, or anything else. If the one above polls for a lock of another thread's, it does
// not.
void thread_constraints::yields(const constraint &c) noexcept {
    constexpr unsigned many = 1000;
    const lock_tried polled = std::exchange(tried, lock_tried::none);
    yields_ += polled == lock_tried::none ? 1 : 0;
    if (turns_awaited_ == 0)
        return;
    for (constraint *each = c.before; each; each = each->before) {
        if (each->task->self != c.task->self || !each->turn)
            continue;
        if (polled == lock_tried::own ? each->ends == until::turn : yields_ - each->yields_seen >= many) {
            each->is_let_go = true;
            std::exchange(each->turn, nullptr)->grant();
        }
        if (polled != lock_tried::own)
            return;
    }
}

namespace {

// Returns when the turn of c may have come, or after a while. The system may refuse what the first wait with
// a limit needs.
void wait_for_turn(constraint &c) noexcept {
    using namespace std::chrono_literals;
    static constexpr detail::waiting_for above{"OpenMP tasks begun above this one"};
    try {
        const detail::wait_limits limits(detail::steady_clock::now() + 10ms);
        detail::waiter turn(limits);
        c.turn = &turn;
        turn.wait_long(limits, above);
    } catch (const std::system_error &) {
        this_task::yield();
    }
    c.turn = nullptr;
}

} // namespace

// Looks again after a while: a blocking call may have begun, which waits for this task; or one above may wait
// for a lock that this task holds while it yields. Between two waits of a task above the turn has not come
// either.
void thread_constraints::await_turn(constraint &c) noexcept {
    c.yields_seen = yields_;
    ++turns_awaited_;
    while (is_in_force(*this, 0) && !is_on_top(c) && !c.is_let_go &&
           !(c.ends == until::turn && newest->ends == until::unlocked)) {
        select(c.task->at);
        wait_for_turn(c);
    }
    --turns_awaited_;
    if (!is_on_top(c))
        go_on_below(c);
}

bool begins_in_blocking_calls = true;

constraint *constraint_on(const team_member &m) noexcept {
    const thread_constraints &all = m.at->constraints;
    return is_in_force(all, 0) ? newest_of(all, &m) : nullptr;
}

bool never_admits(const constraint &c, const omp_task *f) noexcept {
    const omp_task *at = is_searched(f, c) ? f->reached : f->parent;
    return walk(at, c) == descent::no;
}

bool may_begin_children(const omp_task *me) noexcept {
    const thread_constraints &all = me->at->constraints;
    if (is_blocked(all, 1))
        return false;
    if (!is_in_force(all, 1)) // this one runs
        return true;
    const constraint *c = newest_of(all, me->self);
    const auto admits_children = [me](const constraint &each) {
        const omp_task *at = me;
        return each.what == begins::descendants && walk(at, each) == descent::yes;
    };
    while (c && admits_children(*c))
        c = all.has_apart() ? next_of(*c) : nullptr;
    return !c;
}

bool may_start(const detail::task &t) noexcept {
    omp_task *const f = stored_omp_task(const_cast<detail::task *>(&t));
    // Away from its home it needs a second slot.
    const bool is_home = detail::home_of(&t) == detail::current_worker();
    if (!is_home && !f->has(is_implicit) && !detail::has_slot(detail::if_many::last))
        return false;
    if (may_begin(f))
        return true;
    // Such tasks must not take all the slots that those from elsewhere need, which this thread may begin.
    if (!is_home || f->has(is_placeholder) || detail::has_slot(detail::if_many::spare))
        return false;
    f->flags |= leaves_slot;
    return true;
}

bool may_begin(omp_task *f) noexcept {
    if (f->has(is_implicit))
        return true;
    const team &t = *f->parent->in();
    const team_member *const m = t.member_on(detail::deciding_worker());
    if (!m || is_blocked(m->at->constraints, 0))
        return false;
    return f->has(is_placeholder) ? m->in->queue.has_admitted() : member_for(f) != nullptr;
}

team_member *member_for(omp_task *f) noexcept {
    team_member *m = f->parent->in()->member_on(detail::deciding_worker());
    if (!m || !m->next_here) [[likely]]
        return m && admits(*m, f) ? m : nullptr;
    if (team_member *const parents = f->parent->self; parents->at == m->at && admits(*parents, f))
        return parents;
    while (m && !admits(*m, f))
        m = m->next_here;
    return m;
}

bool may_begin_any(const team &t) noexcept {
    const team_member *m = t.member_on(detail::deciding_worker());
    while (m && (!m->has_begun() || constraint_on(*m)))
        m = m->next_here;
    return m != nullptr;
}

} // namespace fult::omp
