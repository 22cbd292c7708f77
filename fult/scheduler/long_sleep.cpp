#include "long_sleep.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "worker.hpp"

namespace fult::detail {
namespace {

// The worker counts as asleep, and its slots may not change while they are counted.
void trim_asleep(worker &here) noexcept {
    worker_team &team = here.team;
    team.counting.lock();
    team.trimming.fetch_add(1, std::memory_order_relaxed); // under the lock: pairs with can_count
    team.counting.unlock();
    here.trim();
    team.trimming.fetch_sub(1, std::memory_order_release); // pairs with can_count
}

} // namespace

int long_sleep::begins_after(const worker_team &team) noexcept {
    return team.opts.trim_after != 0 ? static_cast<int>(team.opts.trim_after) : look_without_trim;
}

// The last worker to fall asleep for long, or the watcher, checks for a deadlock. The check is repeated at
// growing intervals while an external event could still wake a task.
int long_sleep::step(worker &here, bool watches) noexcept {
    constexpr int seldom = 60'000; // milliseconds
    if (next_check_ == 0) {
        if (here.team.opts.trim_after != 0)
            trim_asleep(here);
        next_check_ = begins_after(here.team);
    }
    last_ = count(here, true) || last_;
    if (!(last_ || watches) || report_deadlock(here.team))
        return -1;
    return std::exchange(next_check_, std::min(2 * next_check_, seldom));
}

bool long_sleep::count(worker &here, bool long_asleep) noexcept {
    worker_team &team = here.team;
    if (next_check_ == 0 || counted_ == long_asleep)
        return false;
    counted_ = long_asleep;
    if (long_asleep)
        return team.long_asleep.fetch_add(1, std::memory_order_seq_cst) + 1 == team.count();
    FULT_ASSERT(team.long_asleep.load(std::memory_order_relaxed) != 0, "this worker is counted");
    team.long_asleep.fetch_sub(1, std::memory_order_seq_cst);
    // after long_asleep changes; pairs with report_deadlock
    team.unparked.fetch_add(1, std::memory_order_seq_cst);
    return false;
}

void long_sleep::end(worker &here) noexcept {
    count(here, false);
    next_check_ = 0;
    last_ = false;
}

} // namespace fult::detail
