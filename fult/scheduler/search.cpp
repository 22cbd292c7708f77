// What a worker without ready tasks does: steal, revoke the private tasks of busy workers, park.
#include <algorithm>
#include <chrono>
#include <sched.h>

#include <fult/detail/assertion.hpp>

#include "fult/base/asymmetric_fence.hpp"
#include "fult/engine/deadlock.hpp"
#include "fult/outside/thread_waits.hpp"
#include "processors.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

using steady = std::chrono::steady_clock;

// The end of a runtime is reached when all other workers sleep: then they search for at most this long.
constexpr auto spin_at_end = std::chrono::microseconds(20);

// Time for which a victim that reaches no scheduling point is left alone before its private words are
// revoked.
constexpr auto patience = std::chrono::microseconds(20);

// If hand-offs continued during the search but none could be stolen, re-poll every 1 ms for 10 us.
constexpr int poll_sleep_milliseconds = 1;
constexpr auto poll_sleep_spin = std::chrono::microseconds(10);

} // namespace

task *worker::find() noexcept {
    if (task *t = pick(false))
        return t;
    return search();
}

// If no stack can be allocated, tasks that have one come first.
task *worker::steal_from(worker &victim, bool &forwarded) noexcept {
    if (team.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        if (task *t = victim.tasks.steal(forwarded, true))
            return t;
    return victim.tasks.steal(forwarded);
}

// One attempt at each other home, nearest group first, starting at a random member of the group.
task *worker::steal_round() noexcept {
    bool forwarded = false;
    const auto from = [&](worker &victim) {
        task *t = steal_from(victim, forwarded);
        if (forwarded) {
            team.wake_for(victim, true);
            forwarded = false;
        }
        return t;
    };
    for (const auto &group : victims_) {
        const auto size = static_cast<std::uint32_t>(group.size());
        const std::uint32_t start = random_.below(size);
        for (std::uint32_t i = 0; i < size; ++i)
            if (task *t = from(*group[(start + i) % size]))
                return t;
    }
    return nullptr;
}

bool worker::revoke_round() noexcept {
    if (!team.private_words)
        return false;
    for (const auto &group : victims_)
        for (worker *victim : group)
            if (victim->tasks.seems_private() && victim->tasks.revoke() != 0)
                return true;
    return false;
}

// Makes the next spawn of every other worker publish private tasks, and wake a worker if any sleeps then.
void worker::request_work() noexcept {
    for (const auto &group : victims_)
        for (worker *victim : group)
            if ((victim->request_flags.load(std::memory_order_seq_cst) & work_requested) == 0)
                victim->request_flags.fetch_or(work_requested,
                                               std::memory_order_seq_cst); // pairs with publish_work
}

// Sum of the other workers' hand-off counts; used to detect changes.
std::uint32_t worker::handoffs_of_others() const noexcept {
    std::uint32_t sum = 0;
    for (const auto &group : victims_)
        for (const worker *victim : group)
            sum += victim->handoff_count_.load(std::memory_order_relaxed);
    return sum;
}

bool worker::work_anywhere(bool include_handed_off) noexcept {
    if (has_work() || team.foreign_home().tasks.seems_public())
        return true;
    if (team.stealing_disabled)
        return false;
    for (const auto &group : victims_)
        for (worker *victim : group)
            if (victim->tasks.seems_public() ||
                (include_handed_off &&
                 victim->handed_off_.load(std::memory_order_seq_cst))) // pairs with hand_off
                return true;
    return revoke_round();
}

int worker::long_sleep_after() const noexcept {
    return team.opts.trim_after != 0 ? static_cast<int>(team.opts.trim_after) : look_without_trim;
}

// This worker counts as asleep, and its slots may not change while they are counted.
void worker::trim_asleep() noexcept {
    team.counting.lock();
    team.trimming.fetch_add(1, std::memory_order_relaxed); // under the lock: pairs with can_count
    team.counting.unlock();
    trim();
    team.trimming.fetch_sub(1, std::memory_order_release); // pairs with can_count
}

// Called after a long sleep. Trims idle memory. The last worker to fall asleep for long, or the watcher,
// checks for a deadlock. The check is repeated at growing intervals while an external event could still wake
// a task.
int worker::on_long_sleep(bool watches) noexcept {
    constexpr int seldom = 60'000; // milliseconds
    if (next_deadlock_check_ == 0) {
        if (team.opts.trim_after != 0)
            trim_asleep();
        next_deadlock_check_ = long_sleep_after();
    }
    last_long_asleep_ = count_long_asleep(true) || last_long_asleep_;
    if (!(last_long_asleep_ || watches) || report_deadlock(team))
        return -1;
    return std::exchange(next_deadlock_check_, std::min(2 * next_deadlock_check_, seldom));
}

// Returns true if this makes all workers long asleep.
bool worker::count_long_asleep(bool long_asleep) noexcept {
    if (next_deadlock_check_ == 0 || counted_long_asleep_ == long_asleep)
        return false;
    counted_long_asleep_ = long_asleep;
    if (long_asleep)
        return team.long_asleep.fetch_add(1, std::memory_order_seq_cst) + 1 == team.count;
    FULT_ASSERT(team.long_asleep.load(std::memory_order_relaxed) != 0, "this worker is counted");
    team.long_asleep.fetch_sub(1, std::memory_order_seq_cst);
    // after long_asleep changes; pairs with report_deadlock
    team.unparked.fetch_add(1, std::memory_order_seq_cst);
    return false;
}

void worker::end_long_sleep() noexcept {
    count_long_asleep(false);
    next_deadlock_check_ = 0;
    last_long_asleep_ = false;
}

void worker::sleep_until_woken(std::uint32_t prepared) noexcept {
    sleep.wait(prepared, long_sleep_after());
    while (!sleep.posted(prepared))
        sleep.wait(prepared, on_long_sleep(false));
    end_long_sleep();
}

// Parks the worker. The order matters (tests/model/sleep.pml): set the bit in the sleepers, request work from
// all workers, check all sources once more, sleep. In a poll sleep, handed-off tasks are not checked, since
// their worker is about to run them; a hand-off then wakes no worker, and this worker polls again when the
// time is over.
void worker::park(park_mode how) noexcept {
    FULT_ASSERT(this_worker() == this && !current, "a worker parks between tasks");
    const bool poll_sleep = how == park_mode::poll_sleep;
    const std::uint32_t prepared = sleep.prepare();
    if (poll_sleep) {
        team.poll_sleeping.fetch_add(1, std::memory_order_seq_cst);
        if (waiting_threads.any())
            hand_off_polling(team);
    }
    team.asleep.add(index);
    if (!team.stealing_disabled) {
        request_work();
        if (team.private_words)
            // A spawn after the fence sees `work_requested`; a spawn before it is seen below
            // (MUTANT_NO_MEMBARRIER of the model).
            asymmetric_fence();
    }
    const bool nothing =
        !team.stopping.load(std::memory_order_seq_cst) && !work_anywhere(!poll_sleep); // pairs with stop
    const bool watched = nothing && !poll_sleep && team.outside.watch(*this, prepared);
    if (nothing && poll_sleep)
        sleep.wait(prepared, poll_sleep_milliseconds);
    else if (nothing && !watched)
        sleep_until_woken(prepared);
    if ((poll_sleep || watched || !nothing) &&
        !team.asleep.remove(index)) // else the poster has removed this worker
        sleep.wait(prepared); // a post has happened or is about to: consume it, or it would end a later sleep
    if (poll_sleep)
        // before the next check; pairs with hand_off
        team.poll_sleeping.fetch_sub(1, std::memory_order_seq_cst);
    team.counting.lock();
    team.counting.unlock(); // pairs with drain, which may have counted this worker's tasks while it slept
}

task *worker::search() noexcept {
    FULT_ASSERT(this_worker() == this);
    task *found = nullptr;
    team.searching.fetch_add(1, std::memory_order_seq_cst);
    polling.store(1, std::memory_order_relaxed);
    auto start = steady::now();
    const std::chrono::nanoseconds limit = std::chrono::microseconds(team.opts.idle_spin);
    std::uint32_t handoffs = team.stealing_disabled ? 0 : handoffs_of_others();
    for (unsigned round = 0; !team.stopping.load(std::memory_order_acquire); ++round) {
        bool forwarded = false;
        if ((found = pick(false)) || (found = steal_from(team.foreign_home(), forwarded)) ||
            (!team.stealing_disabled && (found = steal_round())))
            break;
        if (team.outside.any() && team.outside.poll()) {
            start = steady::now();
            continue;
        }
        // More searching workers than processors only hinder each other: the surplus parks at once.
        const bool surplus = team.searching.load(std::memory_order_relaxed) > team.processors;
        if (!team.stealing_disabled && !surplus)
            request_work(); // else in park
        if (round % 16 != 15 && !surplus) {
            relax();
            continue;
        }
        if (!team.stealing_disabled && (found = steal_handed_off()))
            break;
        const auto idle = steady::now() - start;
        if (!team.stealing_disabled && idle > patience && revoke_round())
            continue;
        if (idle > limit || surplus || (idle > spin_at_end && team.ending.load(std::memory_order_relaxed))) {
            // before its bit in the sleepers is set; pairs with wake_for
            team.searching.fetch_sub(1, std::memory_order_seq_cst);
            const std::uint32_t handoffs_now =
                team.stealing_disabled || surplus ? handoffs : handoffs_of_others();
            const bool in_motion = handoffs_now != handoffs;
            park(in_motion ? park_mode::poll_sleep : park_mode::until_unparked);
            team.searching.fetch_add(1, std::memory_order_seq_cst);
            round = 0;
            start =
                steady::now() - (in_motion ? std::max(limit - poll_sleep_spin, limit.zero()) : limit.zero());
            handoffs = handoffs_now;
        }
    }
    polling.exchange(0, std::memory_order_seq_cst);
    // Signalers that saw this worker search have not woken any worker. The last worker to stop searching
    // checks for more work and wakes a worker for it.
    if (team.searching.fetch_sub(1, std::memory_order_seq_cst) == 1 && found &&
        team.asleep.any()) { // pairs with wake_for
        if (work_anywhere(true))
            team.wake_one(index);
        else if (!team.stealing_disabled)
            request_work();
    }
    FULT_ASSERT(!found || found->state.load(std::memory_order_relaxed) == busy, "a found task is claimed");
    if (found) // this worker may be busy for long (tests/model/poll.pml)
        hand_off_polling(team);
    return found;
}

} // namespace fult::detail
