// Both sides of a sleep: how a worker falls asleep, and how it is woken.
#include "idling.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <sched.h>

#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/tied.hpp>
#include <fult/task_id.hpp>

#include "fult/base/asymmetric_fence.hpp"
#include "fult/base/check.hpp"
#include "fult/tasks/task.hpp"
#include "processors.hpp"
#include "thread_waits.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {
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

// Makes the next spawn of every other worker publish private tasks, and wake a worker if any sleeps then. In
// a crowd, a search asks the neighbours; a worker that falls asleep asks all (hidden_tasks::ask).
void request_work(const worker &here) noexcept {
    here.neighbours.for_each([&](worker &victim) {
        if (here.team.crowd.may_hide(victim.index))
            victim.request_work();
    });
}

// Of a worker that goes on with a task while others sleep.
void request_work_for_sleepers(const worker &here) noexcept {
    if (here.team.crowd.exists())
        here.team.crowd.hiding.any(here.index, [&](unsigned number) {
            here.team.homes[number]->request_work();
            return false;
        });
    else
        request_work(here);
}

// Sum of the other workers' hand-off counts; used to detect changes.
std::uint32_t handoffs_of_others(const worker &here) noexcept {
    std::uint32_t sum = 0;
    here.neighbours.for_each([&](const worker &victim) { sum += victim.handed_off().count(); });
    return sum;
}

} // namespace

// A worker that polled its own words continues with another task. Signalers that saw it polling have not
// woken any worker, so if any worker sleeps, this one checks its public words once more. A worker that parks
// later makes our store visible by its own fence, before its last check (park; WATCH in
// tests/model/sleep.pml).
void idling::end_polling(worker &here) noexcept {
    worker_team &team = here.team;
    if (team.private_words) {
        polling_.store(0, std::memory_order_relaxed);
        owner_barrier();
        if (!team.sleepers.any())
            return;
    }
    polling_.exchange(0, std::memory_order_seq_cst); // pairs with is_polling
    if (team.sleepers.any() && here.tasks.may_have_public())
        team.wake_one(here.index);
}

void idling::sleep_until_woken(worker &here, std::uint32_t prepared) noexcept {
    sleep.wait(prepared, long_sleep::begins_after(here.team));
    while (!sleep.posted(prepared))
        sleep.wait(prepared, in_long_sleep.step(here, false));
    in_long_sleep.end(here);
}

// Parks the worker. The order matters (tests/model/sleep.pml): set the bit in the sleepers, request work from
// all workers, check all sources once more, sleep. In a poll sleep, handed-off tasks are not checked, since
// their worker is about to run them; a hand-off then wakes no worker, and this worker polls again when the
// time is over.
void idling::park(worker &here, park_mode how) noexcept {
    FULT_ASSERT(this_worker() == &here && !here.current, "a worker parks between tasks");
    worker_team &team = here.team;
    auto &hidden = here.sources.get<hidden_tasks>();
    const bool poll_sleep = how == park_mode::poll_sleep;
    const std::uint32_t prepared = sleep.prepare();
    if (poll_sleep) {
        team.poll_sleeping.fetch_add(1, std::memory_order_seq_cst);
        if (waiting_threads.any())
            hand_off_polling(team);
    }
    team.sleepers.add(here.index);
    const bool in_crowd = team.crowd.exists(); // if not, it may be one before this worker sleeps
    if (team.may_steal()) {
        if (in_crowd)
            hidden.ask(here);
        else
            request_work(here);
        if (team.private_words)
            // A spawn after the fence sees `work_requested`; a spawn before it is seen below
            // (MUTANT_NO_MEMBARRIER of the model).
            asymmetric_fence();
    }
    const bool revealed = in_crowd && team.private_words && hidden.reveal_asked(here);
    const bool nothing = !revealed && !team.stopping.load(std::memory_order_seq_cst) && // pairs with stop
                         !here.may_have_work_anywhere(!poll_sleep);
    const bool watched = nothing && !poll_sleep && team.services.watch(here, prepared);
    if (nothing && poll_sleep)
        sleep.wait(prepared, poll_sleep_milliseconds);
    else if (nothing && !watched)
        sleep_until_woken(here, prepared);
    if ((poll_sleep || watched || !nothing) &&
        !team.sleepers.remove(here.index)) // else the poster has removed this worker
        sleep.wait(prepared); // a post has happened or is about to: consume it, or it would end a later sleep
    if (poll_sleep)
        // before the next check; pairs with notify
        team.poll_sleeping.fetch_sub(1, std::memory_order_seq_cst);
    team.counting.lock();
    team.counting.unlock(); // pairs with drain, which may have counted this worker's tasks while it slept
}

// A worker that may not start some of the tasks that there are (task_ops::may_start) takes no part in the
// protocol above: what it sees, and leaves, must not keep others from being woken, and must not keep it
// awake. To the others it is as one that computes, which looks at its request flags now and then. It
// sleeps for a short time, or until a task that is its own to resume is signaled. tests/model/selective.pml.
void idling::sleep_shortly(worker &here) noexcept {
    worker_team &team = here.team;
    const std::uint32_t prepared = sleep.prepare();
    team.short_sleepers.add(here.index); // before the look; pairs with wake_for
    if (!team.stopping.load(std::memory_order_seq_cst) && !here.has_resumable()) { // pairs with stop
        const bool is_long = slept_ >= long_sleep::begins_after(team);
        const std::int64_t until = timers::now() + std::int64_t{next_sleep_} * 1'000'000;
        if (!team.services.watch(here, prepared, {until, is_long})) {
            if (is_long)
                in_long_sleep.step(here, false);
            sleep.wait(prepared, next_sleep_);
            in_long_sleep.count(here, false);
        }
    }
    if (!team.short_sleepers.remove(here.index))
        sleep.wait(prepared); // as in park
    team.counting.lock();
    team.counting.unlock();                // as in park
    constexpr int usual = 8, longest = 32; // after a long wait
    slept_ += next_sleep_;
    next_sleep_ = std::min(2 * next_sleep_, std::clamp(slept_ / 256, usual, longest));
}

void idling::end_short_sleeps(worker &here) noexcept {
    in_long_sleep.end(here);
    next_sleep_ = 1;
    slept_ = 0;
}

// Many tasks that this worker may not start are looked at in parts.
task *idling::look_for_startable(worker &here) noexcept {
    constexpr unsigned parts = 64;
    here.passed_over = false;
    for (unsigned i = 0; i < parts; ++i) {
        if (task *t = here.pick(false))
            return t;
        if (task *t = here.sources.steal(here))
            return t;
        if (task *t = here.sources.get<foreign_tasks>().take_fair(here))
            return t;
        if (task *t = here.sources.get<tasks_of_others>().take_fair(here))
            return t;
        if (!here.passed_over)
            break;
    }
    return here.sources.get<hidden_tasks>().take_stalled(here);
}

task *idling::search_selectively(worker &here) noexcept {
    worker_team &team = here.team;
    task *found = nullptr;
    const std::chrono::nanoseconds limit =
        std::chrono::microseconds(team.idle_spin.load(std::memory_order_relaxed));
    auto start = steady::now();
    for (bool asked = false; !found && !team.stopping.load(std::memory_order_acquire);) {
        if ((found = look_for_startable(here)))
            break;
        if (team.services.any() && team.services.poll())
            continue;
        // One request for work: with more, others would publish what this worker may not start.
        if (!asked)
            request_work(here);
        const auto idle = steady::now() - start;
        const bool waits_long = slept_ != 0 || (asked && idle > patience);
        if (waits_long && !here.passed_over && here.sources.reveal(here)) {
            start = steady::now() - limit; // one look, and a sleep
            continue;
        }
        asked = true;
        if (!relax() && idle <= limit && slept_ == 0)
            continue;
        sleep_shortly(here);
        asked = false;
        start = steady::now();
    }
    end_short_sleeps(here);
    if (found)
        hand_off_polling(team);
    return found;
}

task *idling::search(worker &here) noexcept {
    FULT_ASSERT(this_worker() == &here);
    if (here.is_selective)
        return search_selectively(here);
    here.passed_over = false;
    worker_team &team = here.team;
    task *found = nullptr;
    team.searching.fetch_add(1, std::memory_order_seq_cst);
    begin_polling();
    auto start = steady::now();
    const auto limit = [&team]() -> std::chrono::nanoseconds {
        return std::chrono::microseconds(team.idle_spin.load(std::memory_order_relaxed));
    };
    std::uint32_t handoffs = handoffs_of_others(here);
    bool had_better_sleep = false; // unless the next round finds something
    for (unsigned round = 0; !team.stopping.load(std::memory_order_acquire); ++round) {
        if ((found = here.pick(false)) || (found = here.sources.steal(here)))
            break;
        if (team.services.any() && team.services.poll()) {
            start = steady::now();
            had_better_sleep = false;
            continue;
        }
        // More searching workers than processors only hinder each other: the surplus parks at once.
        const bool surplus = team.searching.load(std::memory_order_relaxed) > team.processors;
        if (!surplus)
            request_work(here); // else in park
        if (round % 16 != 15 && !surplus && !had_better_sleep) {
            had_better_sleep = relax();
            continue;
        }
        if ((found = here.sources.steal_stalled(here)))
            break;
        const auto idle = steady::now() - start;
        if (idle > patience && here.sources.reveal(here))
            continue;
        if (idle > limit() || surplus || had_better_sleep ||
            (idle > spin_at_end && team.ending.load(std::memory_order_relaxed))) {
            // before its bit in the sleepers is set; pairs with wake_for
            team.searching.fetch_sub(1, std::memory_order_seq_cst);
            const std::uint32_t handoffs_now = surplus ? handoffs : handoffs_of_others(here);
            const bool in_motion = handoffs_now != handoffs;
            if (here.passed_over) {
                polling_.exchange(0, std::memory_order_seq_cst); // pairs with is_polling
                team.wake_one(here.index);                       // signalers have relied on this worker
                sleep_shortly(here);
                here.passed_over = false;
            } else {
                park(here, in_motion ? park_mode::poll_sleep : park_mode::until_unparked);
            }
            team.searching.fetch_add(1, std::memory_order_seq_cst);
            round = 0;
            had_better_sleep = false;
            start = steady::now() -
                    (in_motion ? std::max(limit() - poll_sleep_spin, limit().zero()) : limit().zero());
            handoffs = handoffs_now;
        }
    }
    end_short_sleeps(here);
    polling_.exchange(0, std::memory_order_seq_cst);
    // Signalers that saw this worker search have not woken any worker. The last worker to stop searching
    // checks for more work and wakes a worker for it.
    if (team.searching.fetch_sub(1, std::memory_order_seq_cst) == 1 && found &&
        team.sleepers.any()) { // pairs with wake_for
        if (here.may_have_work_anywhere(true))
            team.wake_one(here.index);
        else
            request_work_for_sleepers(here);
    }
    FULT_ASSERT(!found || found->state.load(std::memory_order_relaxed) == busy, "a found task is claimed");
    if (found) // this worker may be busy for long (tests/model/poll.pml)
        hand_off_polling(team);
    return found;
}

// Wake-ups: a signal sets the bit of a task, and a worker is woken that should run it ----------------------------

// Which worker is woken: docs/scheduler.md, "Stealing and sleeping".

void worker_team::wake(unsigned target) noexcept {
    if (sleepers.remove(target) || short_sleepers.remove(target))
        homes[target]->idle.unpark();
}

namespace {
bool wake_any(const worker_team &team, sleepers &from, unsigned near) noexcept {
    const int target = from.remove_any(near);
    if (target >= 0)
        team.homes[static_cast<unsigned>(target)]->idle.unpark();
    return target >= 0;
}
} // namespace

bool worker_team::wake_one(unsigned near) noexcept { return wake_any(*this, sleepers, near); }

void worker_team::wake_for(const worker &home, bool only_home) noexcept {
    if (!sleepers.any() && !short_sleepers.any()) // after the OR of the caller
        return;
    if (home.has_thread()) {
        const bool wakes_home = sleepers.remove(home.index);
        if (wakes_home || short_sleepers.remove(home.index)) // a short sleeper may not start the task
            homes[home.index]->idle.unpark();
        if (wakes_home || only_home || stealing_disabled || home.idle.is_polling())
            return;
    }
    if (searching.load(std::memory_order_seq_cst) != 0) // pairs with search
        return;
    if (!wake_one(home.index) && !home.has_thread())
        wake_any(*this, short_sleepers, 0);
}

namespace {
FULT_ALWAYS_INLINE void post(task_id id) noexcept {
    const task *t = to_task(id);
    const bool pinned = is_pinned(id);
    auto *home = static_cast<worker *>(home_of(t));
    home->tasks.post(t, pinned);
    home->team.wake_for(*home, pinned);
}
} // namespace

void post_signal(task_id id) noexcept { post(id); }

#ifndef NDEBUG
namespace {
// Mostly harmless, but the slot may belong to another task by now, or soon.
void check_alive(task_id id) noexcept {
    static std::atomic<bool> reported{false};
    const task *t = to_task(id);
    if (static_cast<worker *>(home_of(t))->is_free(t) && !reported.exchange(true, std::memory_order_relaxed))
        warn("signal: the task with the id %#zx has ended and was joined or detached; do not keep an id for "
             "longer than the task lives",
             static_cast<std::size_t>(id.value()));
}
} // namespace
#endif

} // namespace detail

void signal(task_id id) noexcept {
    if (!id) [[unlikely]]
        detail::misuse("signal", "the task id is empty");
    const detail::worker *here = detail::this_worker();
    const detail::team_visit visit(here);
    if (!here) [[unlikely]] {
        detail::check_not_forked();
        if (!visit.team())
            detail::misuse("signal",
                           "no runtime is running; do not keep an id for longer than the task lives");
    }
#ifndef NDEBUG
    detail::check_alive(id);
#endif
    detail::post(id);
}

} // namespace fult
