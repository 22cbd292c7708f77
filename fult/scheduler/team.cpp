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

// Which worker is woken: docs/scheduler.md, "Stealing and sleeping".

void worker_team::wake(unsigned target) noexcept {
    if (sleepers.remove(target))
        homes[target]->idle.unpark();
}

void worker_team::wake_one(unsigned near) noexcept {
    if (const int target = sleepers.remove_any(near); target >= 0)
        homes[static_cast<unsigned>(target)]->idle.unpark();
}

void worker_team::wake_for(const worker &home, bool only_home) noexcept {
    if (!sleepers.any()) // after the OR of the caller
        return;
    if (home.has_thread()) {
        if (sleepers.remove(home.index)) {
            homes[home.index]->idle.unpark();
            return;
        }
        if (only_home || stealing_disabled || home.idle.is_polling())
            return;
    }
    if (searching.load(std::memory_order_seq_cst) != 0) // pairs with search
        return;
    wake_one(home.index);
}

} // namespace fult::detail
