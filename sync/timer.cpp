#include "timer.hpp"

#include "fult/scheduler/worker.hpp"

namespace fult::detail {

void open_timers() {
    worker_team &team = this_worker()->team;
    team.timers.open(team);
}

timed_nudge::timed_nudge(waiter &who, steady_clock::time_point deadline) noexcept
    : queue_(this_worker()->team.timers), who_(who) {
    timer_entry::deadline =
        std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
    fire = [](timer_entry &e) noexcept {
        auto &self = static_cast<timed_nudge &>(e);
        self.over_.store(true, std::memory_order_relaxed);
        self.who_.nudge();
    };
    queue_.arm(*this);
}

timed_nudge::~timed_nudge() { queue_.disarm(*this); }

} // namespace fult::detail
