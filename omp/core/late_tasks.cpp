#include "late_tasks.hpp"

#include <algorithm>
#include <mutex>

#include "tasks.hpp"

namespace fult::omp {

void late_tasks::add(omp_task *f) {
    FULT_ASSERT(f->parent->in()->is_serial, "others are submitted to the runtime");
    const std::lock_guard hold(lock_);
    ready_.push_back(f);
    if (waiting_)
        waiting_->announce_late_task();
}

// The first that descends from `me` (constraint.hpp). Few tasks are late, and few levels above them.
omp_task *late_tasks::take(const omp_task *me, child_counter *waiting) noexcept {
    const auto descends = [me](const omp_task *f) {
        while (f && f != me)
            f = f->parent;
        return f != nullptr;
    };
    const std::lock_guard hold(lock_);
    const auto first = std::find_if(ready_.begin(), ready_.end(), descends);
    waiting_ = first == ready_.end() ? waiting : nullptr;
    if (first == ready_.end())
        return nullptr;
    omp_task *const f = *first;
    ready_.erase(first);
    return f;
}

bool late_tasks::run_one(omp_task *me) {
    FULT_ASSERT(me->in()->is_serial && is_here(me->at));
    omp_task *const f = take(me, nullptr);
    if (f)
        run_undeferred(me, f);
    return f != nullptr;
}

void late_tasks::run_until_notified(child_counter &s) {
    FULT_ASSERT(s.owner->in()->is_serial && is_here(s.owner->at));
    for (bool ended = false; !ended;)
        if (omp_task *const f = s.all_ended() ? nullptr : take(s.owner, &s))
            run_undeferred(s.owner, f);
        else
            ended = s.await_notice();
    const std::lock_guard hold(lock_);
    waiting_ = nullptr;
}

} // namespace fult::omp
