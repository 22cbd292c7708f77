#include "taskgroup.hpp"

#include <new>

#include "tasks.hpp"

namespace fult::omp {

void begin_taskgroup(frame *me) {
    me->innermost = ::new (me->at->blocks.take(0)) group_scope(me, me->innermost, me->at);
}

void end_taskgroup(frame *me) {
    auto *const s = static_cast<group_scope *>(me->innermost);
    if (!s->outer)
        return;
    FULT_ASSERT(s->owner == me, "a task ends its own taskgroups");
    s->wait(wait_mode::for_trees);
    FULT_ASSERT(s->has_ended(), "nothing refers to a scope that ends");
    me->innermost = s->outer;
    s->~group_scope();
    me->at->blocks.give(0, s);
}

void taskwait_slowly(frame *me) {
    for (scope *s = me->innermost; s; s = s->outer)
        if (!s->is_empty())
            s->wait(wait_mode::for_bodies);
}

} // namespace fult::omp
