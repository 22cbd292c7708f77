#include "taskyield.hpp"

#include <algorithm>

#include <fult/this_task.hpp>

#include "tasks.hpp"
#include "team.hpp"

namespace fult::omp {

void taskyield(omp_task *me) {
    if (me->in()->is_serial) {
        me->in()->late.run_one(me);
        return;
    }
    if (!task_on_worker())
        return;
    const omp_wait here(begins::descendants, until::turn);
    this_task::yield();
}

// 32 tasks of 256 bytes, and as many nodes of dependences, stay in a first-level cache; with 128 queued
// tasks a generator of small ones is half as fast.
// Below a generator that yields, more: each of them that yields as well keeps a stack.
bool has_many_children(const omp_task *me) noexcept {
    constexpr std::uint32_t many = 32, for_each_thread = 8, times_below_another = 8;
    const std::uint32_t most = std::max(many, for_each_thread * me->in()->size);
    const constraint *const newest = me->at->constraints.newest;
    return bodies_in(me->innermost->outstanding()) >
           most * (newest && newest->ends == until::turn ? times_below_another : 1);
}

} // namespace fult::omp
