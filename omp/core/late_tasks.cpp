#include "late_tasks.hpp"

#include <mutex>

#include "tasks.hpp"

namespace fult::omp {

void late_tasks::add(frame *f) {
    FULT_ASSERT(f->parent->in()->is_serial, "others are submitted to the runtime");
    const std::lock_guard hold(lock_);
    ready_.push_back(f);
    if (waiting_)
        waiting_->announce_late_task();
}

frame *late_tasks::take(scope *waiting) noexcept {
    const std::lock_guard hold(lock_);
    waiting_ = ready_.empty() ? waiting : nullptr;
    if (ready_.empty())
        return nullptr;
    frame *const first = ready_.front();
    ready_.erase(ready_.begin());
    return first;
}

bool late_tasks::run_one(frame *me) {
    FULT_ASSERT(me->in()->is_serial && is_here(me->at));
    frame *const f = take(nullptr);
    if (f)
        run_undeferred(me, f);
    return f != nullptr;
}

void late_tasks::run_until_notified(scope &s) {
    FULT_ASSERT(s.owner->in()->is_serial && is_here(s.owner->at));
    while (!s.all_ended()) {
        if (frame *const f = take(&s))
            run_undeferred(s.owner, f);
        else
            s.await_notice();
    }
    const std::lock_guard hold(lock_);
    waiting_ = nullptr;
}

} // namespace fult::omp
