// What a worker does in a long sleep: it trims idle memory, and checks for a deadlock.
#pragma once

namespace fult::detail {

class worker;
struct worker_team;

// All functions are called by the worker itself, which is `here`.
class long_sleep {
  public:
    // Milliseconds of sleep after which it is long.
    static int begins_after(const worker_team &team) noexcept;

    // Called after that time, and then again after the milliseconds that it returns; -1: no more. A watcher
    // is counted as long asleep only while it does nothing but sleep.
    int step(worker &here, bool watches) noexcept;
    // Returns true if this makes all workers long asleep.
    bool count(worker &here, bool long_asleep) noexcept;
    // Called when the sleep ends.
    void end(worker &here) noexcept;

  private:
    int next_check_ = 0;   // milliseconds; 0 unless in a long sleep
    bool last_ = false;    // all other workers were long asleep when this one became so
    bool counted_ = false; // counted in team.long_asleep
};

// Milliseconds of sleep after which a worker first checks for a deadlock, if it does not trim.
inline constexpr int look_without_trim = 1000;

// Called in a long sleep. Reports a deadlock once, with a dump of all tasks, if every task waits. False if
// not, or if an outside event could still wake one: call again later. If there is a judge, the judge reports
// it, after it has asked the other processes (fult/engine/deadlock.cpp).
bool report_deadlock(worker_team &team) noexcept;

} // namespace fult::detail
