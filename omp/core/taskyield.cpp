#include "taskyield.hpp"

#include <algorithm>
#include <utility>

#include <fult/this_task.hpp>

#include "tasks.hpp"
#include "team.hpp"

namespace fult::omp {
namespace {

void yield(begins what) {
    const omp_wait here(what, until::turn);
    this_task::yield();
}

// Of this thread, by the same task, and no other task has yielded here since.
bool polls(const omp_task *me) noexcept {
    constexpr unsigned some = 16;
    yield_row &row = me->at->yields;
    if (std::exchange(row.by, me) != me)
        row.length = 0;
    return ++row.length > some;
}

// libgomp queues 64 tasks for each thread, libomp 256 of each.
bool has_many_children(const omp_task *me) noexcept {
    constexpr std::uint32_t least = 256, for_each_thread = 64;
    return bodies_in(me->innermost->outstanding()) > std::max(least, for_each_thread * me->in()->size);
}

} // namespace

void taskyield(omp_task *me) {
    if (me->in()->is_serial) {
        me->in()->late.run_one(me);
        return;
    }
    if (task_on_worker())
        yield(polls(me) ? begins::descendants : begins::nothing);
}

void limit_children(omp_task *me) {
    if (!me->in()->is_serial && task_on_worker() && has_many_children(me))
        yield(begins::descendants);
}

} // namespace fult::omp
