#include "depend.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "dependence_table.hpp"
#include "detach.hpp"
#include "tasks.hpp"
#include "taskyield.hpp"
#include "threads.hpp"

namespace fult::omp {

static_assert(sizeof(dependence_node) <= min_block);

void dependence_node::follow_living(dependence_node &before) {
    const std::lock_guard hold(before.lock);
    if (before.is_done())
        return;
    FULT_ASSERT(waits_for.load(std::memory_order_relaxed) > 0, "it does not run before all are found");
    const std::uint32_t n = before.successors;
    FULT_ASSERT(before.others.size() == (n < few ? 0 : n - few),
                "the first successors have places of their own");
    // An address may be in several clauses of a task.
    if (n != 0 && (n <= few ? before.first[n - 1] : before.others.back()) == this)
        return;
    if (n < few)
        before.first[n] = this;
    else
        before.others.push_back(this);
    ++before.successors;
    waits_for.fetch_add(1, std::memory_order_relaxed);
}

void dependence_node::end(thread_state *at) noexcept {
    FULT_ASSERT(waits_for.load(std::memory_order_relaxed) == 0, "a task ends after its predecessors");
    lock.lock();
    FULT_ASSERT(!is_done(), "a task ends once");
    done.store(true, std::memory_order_release); // pairs with is_done
    const std::uint32_t n = std::exchange(successors, 0);
    lock.unlock();
    // Only this thread reads them now.
    for (std::uint32_t i = 0; i < std::min(n, few); ++i)
        first[i]->predecessor_ended(at);
    for (dependence_node *each : others)
        each->predecessor_ended(at);
}

void dependence_node::predecessor_ended(thread_state *at) noexcept {
    if (!count_one())
        return;
    FULT_ASSERT((of == nullptr) != (wait == nullptr), "a task or a wait");
    if (wait)
        count_end(*wait, one_task, nullptr);
    else if (team &t = *of->parent->in(); t.is_serial) [[unlikely]]
        t.late.add(of);
    else
        submit_successor(of, at);
}

// Of a parent with dependent children.
struct dependences {
    dependence_table table;
    unsigned generated = 0;
};

namespace {

constexpr unsigned look_after = 16; // children, until it looks again how many have not ended

dependences &dependences_of(omp_task *parent) {
    dependences *&d = parent->attach().children;
    if (!d)
        d = new dependences;
    return *d;
}

dependence_node *give_node(omp_task *f, thread_state *at) {
    dependence_node *const n = make_node(at);
    n->of = f;
    if (!f->more)
        f->more = &n->more;
    FULT_ASSERT(!f->more->node, "a task has one node");
    f->more->node = n;
    return n;
}

// The node of f, which waits for its predecessors and for the caller.
dependence_node *record(omp_task *me, omp_task *f, dependences &d, const dependence *list,
                        std::size_t count) {
    FULT_ASSERT(f->parent == me && is_here(me->at), "dependences are among the children of the running task");
    thread_state *const at = me->at;
    dependence_node *const n = give_node(f, at);
    // The table drops some again if an address is in the list several times. No other thread does so before
    // the last predecessor has ended, and that waits for this thread.
    const int most = static_cast<int>(count);
    n->references.store(1 + most, std::memory_order_relaxed);
    const int taken = d.table.add(n, list, count, true, at);
    FULT_ASSERT(taken >= 0 && taken <= most, "the references that the table takes have been counted");
    n->references.fetch_sub(most - taken, std::memory_order_relaxed);
    return n;
}

} // namespace

void submit_with_dependences(omp_task *me, omp_task *f, const dependence *list, std::size_t count) {
    dependences &d = dependences_of(me);
    record(me, f, d, list, count)->predecessor_ended(me->at); // the caller
    if (++d.generated % look_after == 0)
        limit_children(me);
}

void run_with_dependences(omp_task *me, omp_task *f, const dependence *list, std::size_t count) {
    const bool matter = has_dependent_children(me) || has_event(f);
    if (!matter || record(me, f, dependences_of(me), list, count)->count_one())
        run_undeferred(me, f);
}

void await_dependences(omp_task *me, const dependence *list, std::size_t count) {
    if (!has_dependent_children(me))
        return;
    FULT_ASSERT(is_here(me->at), "the table is the parent's");
    child_counter ended(me, nullptr, me->at);
    dependence_node n;
    n.wait = &ended;
    ended.live = one_task;
    me->more->children->table.add(&n, list, count, false, me->at);
    if (!n.count_one())
        ended.wait(wait_mode::for_bodies);
    FULT_ASSERT(n.waits_for.load(std::memory_order_relaxed) == 0 && n.successors == 0,
                "no task waits for a wait, nor ends later than it");
}

void await_predecessors(omp_task *me, omp_task *f, const dependence *list, std::size_t count) {
    await_dependences(me, list, count);
    if (!has_event(f))
        return;
    [[maybe_unused]] const bool is_ready = record(me, f, dependences_of(me), list, count)->count_one();
    FULT_ASSERT(is_ready, "only `me` generates children, and it has waited for those that are before f");
}

void release_successors(omp_task *f, thread_state *at) noexcept { f->more->node->end(at); }

void forget_dependences(omp_task *parent) noexcept {
    dependences *const d = std::exchange(parent->more->children, nullptr);
    FULT_ASSERT(parent->base.has_ended(), "children may have to follow others of the table");
    d->table.clear(this_thread());
    delete d;
}

} // namespace fult::omp
