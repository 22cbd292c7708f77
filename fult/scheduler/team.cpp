#include "team.hpp"

#include <atomic>

#include "worker.hpp"

namespace fult::detail {

// While stacks are short, tasks that have one come first. These may wait for others that have none, and never
// end: so the pool asks the system again now and then. False: no stack is available.
bool worker_team::ends_shortage() noexcept {
    stack *s = stacks.acquire(1);
    if (!s)
        return false;
    stacks.release(s);
    short_of_stacks.store(false, std::memory_order_relaxed);
    return true;
}

void worker_team::set_count(unsigned workers) noexcept {
    count_.store(workers, std::memory_order_release);
    count_.notify_all();
}

void worker_team::await_count(unsigned workers) const noexcept {
    for (unsigned now = count(); now < workers; now = count())
        count_.wait(now, std::memory_order_acquire);
}

// First the hint, then a second look (tests/model/levels.pml).
void crowd::forget_if_empty(const worker &home) noexcept {
    if (home.sources.may_have_stealable(home, true))
        return;
    shown.remove(home.index);
    if (!home.sources.may_have_stealable(home, true))
        return;
    shown.add(home.index);
    home.team.wake_for(home, false); // a worker may have looked in between
}

} // namespace fult::detail
