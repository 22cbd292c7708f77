// Tasks of a thread that is alone in its team, outside the runtime or between regions. They are undeferred,
// but for those that follow a detached task: these become ready when its event is fulfilled, maybe on another
// thread. The team's own thread runs them, where it waits next.
#pragma once

#include <vector>

#include <fult/detail/spin_lock.hpp>

#include "child_counter.hpp"

namespace fult::omp {

class late_tasks {
  public:
    void add(omp_task *f); // from any thread
    // The others are for the team's thread, and run descendants of the task that waits.
    bool run_one(omp_task *me); // in place of `me`; false: there is none
    // Runs those that become ready until `s`, in which a task of the team waits, is notified.
    void run_until_notified(child_counter &s);

  private:
    omp_task *take(const omp_task *me, child_counter *waiting) noexcept;

    detail::spin_lock lock_; // of what follows
    std::vector<omp_task *> ready_;
    child_counter *waiting_ = nullptr; // in which the thread has found none, and waits for `add` as well
};

} // namespace fult::omp
