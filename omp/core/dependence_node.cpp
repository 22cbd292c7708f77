#include "dependence_node.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tasks.hpp"

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

void dependence_node::end() noexcept {
    FULT_ASSERT(waits_for.load(std::memory_order_relaxed) == 0, "a task ends after its predecessors");
    lock.lock();
    FULT_ASSERT(!is_done(), "a task ends once");
    done.store(true, std::memory_order_release); // pairs with is_done
    const std::uint32_t n = std::exchange(successors, 0);
    lock.unlock();
    // Only this thread reads them now.
    for (std::uint32_t i = 0; i < std::min(n, few); ++i)
        first[i]->predecessor_ended();
    for (dependence_node *each : others)
        each->predecessor_ended();
}

void dependence_node::predecessor_ended() noexcept {
    if (!count_one())
        return;
    FULT_ASSERT((of == nullptr) != (wait == nullptr), "a task or a wait");
    if (wait)
        count_end(*wait, one_task, nullptr);
    else if (team &t = *of->parent->in(); t.is_serial) [[unlikely]]
        t.late.add(of);
    else
        submit_successor(of);
}

} // namespace fult::omp
