#include "cancel.hpp"

namespace fult::omp {

bool cancellation_enabled = false;

namespace {
// The innermost taskgroup around the running task; null: none. That of a parent is the one in which it
// generated the task: it may have begun others since.
group_counter *group_of(const omp_task *f) noexcept {
    child_counter *s = f->innermost;
    for (; f; s = f->counted_in, f = f->parent)
        for (; s && s->outer; s = s->outer)
            if (auto *const group = static_cast<group_counter *>(s); !group->of_construct)
                return group;
    return nullptr;
}

bool group_cancelled(const omp_task *f) noexcept {
    for (; f; f = f->parent)
        for (const child_counter *s = f->counted_in; s; s = s->outer)
            if (s->outer && static_cast<const group_counter *>(s)->cancelled.load(std::memory_order_relaxed))
                return true;
    return false;
}
} // namespace

bool is_cancelled_slow(const omp_task *f) noexcept {
    return f->in()->cancelled.load(std::memory_order_relaxed) || group_cancelled(f);
}

bool cancel(omp_task *me, int kinds, bool request) {
    FULT_ASSERT(is_cancel_kind(kinds), "one construct is cancelled");
    if (!cancellation_enabled)
        return false;
    if (!request)
        return cancellation_point(me, kinds);
    if ((kinds & (cancel_loop | cancel_sections)) != 0) {
        if (me->self->work.share)
            me->self->work.share->cancelled.store(true, std::memory_order_relaxed);
    } else if ((kinds & cancel_taskgroup) != 0) {
        if (group_counter *const s = group_of(me)) {
            FULT_ASSERT(s->outer, "the counter of a taskgroup has another one around it");
            s->cancelled.store(true, std::memory_order_relaxed);
        }
    } else {
        cancel_region(*me->in());
    }
    return true;
}

// All members meet the same barriers of this kind, so a construct is found by its number: that of the barrier
// at its end. A member that comes to the next one does not disturb one that is late.
bool cancel_construct(omp_task *me, bool request) {
    if (!cancellation_enabled)
        return false;
    std::atomic<std::uint64_t> &cancelled = me->in()->construct_cancelled;
    const std::uint64_t mine = me->self->work.ends + 1;
    if (request) {
        cancelled.store(mine, std::memory_order_relaxed);
        if (me->self->work.share)
            me->self->work.share->cancelled.store(true, std::memory_order_relaxed);
    }
    return cancelled.load(std::memory_order_relaxed) == mine;
}

bool end_cancellable(omp_task *me) {
    FULT_ASSERT(me == me->self->implicit, "all members end a construct, by their implicit tasks");
    if (cancellation_enabled && me->self->work.share)
        leave_work(me->self);
    ++me->self->work.ends;
    return team_barrier(me->self, barrier_kind::cancellable);
}

bool cancellation_point(omp_task *me, int kinds) {
    FULT_ASSERT(is_cancel_kind(kinds), "one construct is cancelled");
    if (!cancellation_enabled)
        return false;
    if ((kinds & (cancel_loop | cancel_sections)) != 0 && work_cancelled(me->self))
        return true;
    if ((kinds & cancel_taskgroup) != 0) {
        const group_counter *const s = group_of(me);
        if (s && s->cancelled.load(std::memory_order_relaxed))
            return true;
    }
    return me->in()->cancelled.load(std::memory_order_relaxed);
}

} // namespace fult::omp
