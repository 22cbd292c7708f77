#include "late_tasks.hpp"

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

omp_task *late_tasks::take(child_counter *waiting) noexcept {
    const std::lock_guard hold(lock_);
    waiting_ = ready_.empty() ? waiting : nullptr;
    if (ready_.empty())
        return nullptr;
    omp_task *const first = ready_.front();
    ready_.erase(ready_.begin());
    return first;
}

bool late_tasks::run_one(omp_task *me) {
    FULT_ASSERT(me->in()->is_serial && is_here(me->at));
    omp_task *const f = take(nullptr);
    if (f)
        run_undeferred(me, f);
    return f != nullptr;
}

void late_tasks::run_until_notified(child_counter &s) {
    FULT_ASSERT(s.owner->in()->is_serial && is_here(s.owner->at));
    for (bool ended = false; !ended;)
        if (omp_task *const f = s.all_ended() ? nullptr : take(&s))
            run_undeferred(s.owner, f);
        else
            ended = s.await_notice();
    const std::lock_guard hold(lock_);
    waiting_ = nullptr;
}

} // namespace fult::omp
