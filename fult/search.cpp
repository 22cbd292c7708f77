// What a worker does that has no ready task of its own: look at the others, take back what a busy one hides,
// sleep.
#include <algorithm>
#include <chrono>
#include <sched.h>

#include "asymmetric_fence.hpp"
#include "deadlock.hpp"
#include "processors.hpp"
#include "thread_waits.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

using steady = std::chrono::steady_clock;

// The end of a runtime is over when all other workers sleep: they look no longer than this then.
constexpr auto spin_at_end = std::chrono::microseconds(20);

// A victim that spawned and then reaches no scheduling point is left alone for this long before its private
// words are taken.
constexpr auto patience = std::chrono::microseconds(20);

// A worker that saw tasks being handed over all the time it looked, none of them for it, looks again after so
// long, for so short a time.
constexpr int doze_milliseconds = 1;
constexpr auto glance = std::chrono::microseconds(10);

} // namespace

task *worker::find() noexcept {
    if (task *t = pick(false))
        return t;
    return search();
}

// Where no more stacks can be had, those tasks come first that have one.
task *worker::steal_from(worker &victim, bool &forwarded) noexcept {
    if (crew.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        if (task *t = victim.tasks.steal(forwarded, true))
            return t;
    return victim.tasks.steal(forwarded);
}

// One attempt at each other home, nearest first, from a random one on in each group.
task *worker::steal_round() noexcept {
    bool forwarded = false;
    const auto from = [&](worker &victim) {
        task *t = steal_from(victim, forwarded);
        if (forwarded) {
            crew.wake_for(victim, true);
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
    if (!crew.private_words)
        return false;
    for (const auto &group : victims_)
        for (worker *victim : group)
            if (victim->tasks.seems_private() && victim->tasks.revoke() != 0)
                return true;
    return false;
}

// Lets every other worker's next spawn publish (and wake, if somebody sleeps then).
void worker::ask_for_work() noexcept {
    for (const auto &group : victims_)
        for (worker *victim : group)
            if ((victim->attention.load(std::memory_order_seq_cst) & hungry) == 0)
                victim->attention.fetch_or(hungry, std::memory_order_seq_cst); // pairs with feed
}

// What other workers handed over, as a count that changes.
std::uint32_t worker::hands_of_others() const noexcept {
    std::uint32_t sum = 0;
    for (const auto &group : victims_)
        for (const worker *victim : group)
            sum += victim->hands_.load(std::memory_order_relaxed);
    return sum;
}

bool worker::work_anywhere(bool handed_too) noexcept {
    if (has_work() || crew.foreign_home().tasks.seems_public())
        return true;
    if (crew.alone)
        return false;
    for (const auto &group : victims_)
        for (worker *victim : group)
            if (victim->tasks.seems_public() ||
                (handed_too && victim->handed_.load(std::memory_order_seq_cst))) // pairs with hand
                return true;
    return revoke_round();
}

int worker::settles_after() const noexcept {
    return crew.opts.trim_after != 0 ? static_cast<int>(crew.opts.trim_after) : look_without_trim;
}

// Asleep for long: what nobody needs now goes back to the system, and the last worker that gets so far, or
// watches for the others, looks whether anything can ever happen again. It looks more and more seldom while
// somebody outside could wake a task, but may end without that.
int worker::settle_down(bool watches) noexcept {
    constexpr int seldom = 60'000; // milliseconds
    if (next_look_ == 0) {
        if (crew.opts.trim_after != 0)
            trim();
        next_look_ = settles_after();
    }
    settled_last_ = be_counted(true) || settled_last_;
    if (!(settled_last_ || watches) || tell_deadlock(crew))
        return -1;
    return std::exchange(next_look_, std::min(2 * next_look_, seldom));
}

// Whether all are settled by this.
bool worker::be_counted(bool settled) noexcept {
    if (next_look_ == 0 || counted_ == settled)
        return false;
    counted_ = settled;
    if (settled)
        return crew.settled.fetch_add(1, std::memory_order_seq_cst) + 1 == crew.count;
    crew.settled.fetch_sub(1, std::memory_order_seq_cst);
    crew.roused.fetch_add(1, std::memory_order_seq_cst); // behind it: pairs with tell_deadlock
    return false;
}

void worker::rouse() noexcept {
    be_counted(false);
    next_look_ = 0;
    settled_last_ = false;
}

void worker::sleep_until_woken(std::uint32_t prepared) noexcept {
    sleep.wait(prepared, settles_after());
    while (!sleep.posted(prepared))
        sleep.wait(prepared, settle_down(false));
    rouse();
}

// Sleeps in the kernel. Order (tests/model/sleep.pml): be seen as asleep, ask everybody, look once more
// everywhere, sleep. For a short while: dozing, where what is handed over is about to be taken by those who
// have it. Who hands over wakes nobody then; this worker looks itself when the time is over.
void worker::nap(rest how) noexcept {
    const bool doze = how == rest::short_while;
    const std::uint32_t prepared = sleep.prepare();
    if (doze) {
        crew.dozing.fetch_add(1, std::memory_order_seq_cst);
        if (waiting_threads.any())
            hand_polling_on(crew);
    }
    crew.asleep.add(index);
    if (!crew.alone) {
        ask_for_work();
        if (crew.private_words)
            asymmetric_fence(); // a spawn after it sees `hungry`, one before it is seen below
                                // (MUTANT_NO_MEMBARRIER of the model)
    }
    const bool nothing =
        !crew.stopping.load(std::memory_order_seq_cst) && !work_anywhere(!doze); // pairs with stop
    const bool watched = nothing && !doze && crew.outside.watch(*this, prepared);
    if (nothing && doze)
        sleep.wait(prepared, doze_milliseconds);
    else if (nothing && !watched)
        sleep_until_woken(prepared);
    if ((doze || watched || !nothing) &&
        !crew.asleep.remove(index)) // else whoever posted has taken this worker out
        sleep.wait(prepared);       // somebody posted, or is about to: take it, or it would end a later sleep
    if (doze)
        crew.dozing.fetch_sub(1, std::memory_order_seq_cst); // before the next look; pairs with hand
    crew.counting.lock();
    crew.counting.unlock(); // pairs with drain, which may have counted this worker's tasks as it slept
}

task *worker::search() noexcept {
    task *found = nullptr;
    crew.searching.fetch_add(1, std::memory_order_seq_cst);
    looking.store(1, std::memory_order_relaxed);
    auto start = steady::now();
    const std::chrono::nanoseconds limit = std::chrono::microseconds(crew.opts.idle_spin);
    std::uint32_t hands = crew.alone ? 0 : hands_of_others();
    for (unsigned round = 0; !crew.stopping.load(std::memory_order_acquire); ++round) {
        bool forwarded = false;
        if ((found = pick(false)) || (found = steal_from(crew.foreign_home(), forwarded)) ||
            (!crew.alone && (found = steal_round())))
            break;
        if (crew.outside.any() && crew.outside.poll()) {
            start = steady::now();
            continue;
        }
        // More at a time than there are processors only keep each other from them: these sleep at once.
        const bool surplus = crew.searching.load(std::memory_order_relaxed) > crew.processors;
        if (!crew.alone && !surplus)
            ask_for_work(); // else in nap
        if (round % 16 != 15 && !surplus) {
            relax();
            continue;
        }
        if (!crew.alone && (found = steal_handed()))
            break;
        const auto idle = steady::now() - start;
        if (!crew.alone && idle > patience && revoke_round())
            continue;
        if (idle > limit || surplus || (idle > spin_at_end && crew.ending.load(std::memory_order_relaxed))) {
            crew.searching.fetch_sub(
                1, std::memory_order_seq_cst); // before it is seen as asleep; pairs with wake_for
            const std::uint32_t hands_now = crew.alone || surplus ? hands : hands_of_others();
            const bool in_motion = hands_now != hands;
            nap(in_motion ? rest::short_while : rest::until_woken);
            crew.searching.fetch_add(1, std::memory_order_seq_cst);
            round = 0;
            start = steady::now() - (in_motion ? std::max(limit - glance, limit.zero()) : limit.zero());
            hands = hands_now;
        }
    }
    looking.exchange(0, std::memory_order_seq_cst);
    // Signalers that saw this worker search woke nobody. Whoever stops searching last looks for more, and for
    // who should take it.
    if (crew.searching.fetch_sub(1, std::memory_order_seq_cst) == 1 && found &&
        crew.asleep.any()) { // pairs with wake_for
        if (work_anywhere(true))
            crew.wake_one(index);
        else if (!crew.alone)
            ask_for_work();
    }
    if (found) // this one may be busy for long (tests/model/poll.pml)
        hand_polling_on(crew);
    return found;
}

} // namespace fult::detail
