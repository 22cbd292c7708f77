// Tasks of a thread that is alone in its team, outside the runtime or between regions. They are undeferred,
// but for those that follow a detached task: these become ready when its event is fulfilled, maybe on another
// thread. The team's own thread runs them, where it waits next.
#pragma once

#include <vector>

#include <fult/detail/spin_lock.hpp>

#include "scope.hpp"

namespace fult::omp {

class late_tasks {
  public:
    void add(frame *f); // from any thread
    // The others are for the team's thread.
    bool run_one(frame *me); // in place of `me`; false: there is none
    // Runs those that become ready until `s`, in which a task of the team waits, is notified.
    void run_until_notified(scope &s);

  private:
    frame *take(scope *waiting) noexcept;

    detail::spin_lock lock_; // of what follows
    std::vector<frame *> ready_;
    scope *waiting_ = nullptr; // in which the thread has found none, and waits for `add` as well
};

} // namespace fult::omp
