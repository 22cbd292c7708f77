#include "taskgroup.hpp"

#include <new>

#include "tasks.hpp"

namespace fult::omp {

void begin_taskgroup(omp_task *me) {
    me->innermost = ::new (me->at->blocks.take(0)) group_counter(me, me->innermost, me->at);
}

void end_taskgroup(omp_task *me) {
    auto *const s = static_cast<group_counter *>(me->innermost);
    if (!s->outer)
        return;
    FULT_ASSERT(s->owner == me, "a task ends its own taskgroups");
    s->wait(wait_mode::for_trees);
    FULT_ASSERT(s->has_ended(), "nothing refers to a counter that ends");
    me->innermost = s->outer;
    s->~group_counter();
    me->at->blocks.give(0, s);
}

void taskwait_slowly(omp_task *me) {
    for (child_counter *s = me->innermost; s; s = s->outer)
        if (!s->is_empty())
            s->wait(wait_mode::for_bodies);
}

} // namespace fult::omp
