#include "other_homes.hpp"

#include <algorithm>

#include <fult/detail/assertion.hpp>

#include "worker.hpp"

namespace fult::detail {
namespace {

// Private tasks of other workers are checked in one turn of this many: the check takes cache lines from their
// owners.
constexpr std::uint32_t turns_per_hidden_check = 16;

// The other workers by number, beginning behind this one.
worker &other_worker(const worker &here, unsigned number) noexcept {
    FULT_ASSERT(number + 1 < here.team.count());
    return *here.team.homes[(here.index + 1 + number) % here.team.count()];
}
unsigned other_after(const worker &here, unsigned number) noexcept {
    return (number + 1) % (here.team.count() - 1);
}

ready_set::taken steal_from(worker &here, worker &victim, wanted what, std::uint32_t least = 0,
                            bool newest = false) noexcept {
    const ready_set::taken result = victim.tasks.steal(what, least, newest);
    if (result.forwarded)
        here.team.wake_for(victim, true);
    here.passed_over = here.passed_over || result.passed_over;
    return result;
}

// If no stack can be allocated, tasks that have one come first. What a selective worker may start is among
// the newest.
task *steal_from(worker &here, worker &victim) noexcept {
    task *t = nullptr;
    if (here.team.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        t = steal_from(here, victim, wanted::started).found;
    return t ? t : steal_from(here, victim, wanted::startable, 0, here.is_selective).found;
}

// The next public task in a sweep over another home. At the end of the sweep returns nullptr and restarts it:
// `slot` is 0 then, and else not.
task *steal_from_slot(worker &here, worker &victim, std::uint32_t &slot) noexcept {
    const ready_set::taken result = steal_from(here, victim, wanted::startable, slot);
    slot = result.found ? slot_of(result.found) + 1 : result.next;
    return result.found;
}

} // namespace

// Foreign threads' ---------------------------------------------------------------------------------------------------------

task *foreign_tasks::steal(worker &here) noexcept { return steal_from(here, here.team.foreign_home()); }

task *foreign_tasks::take_fair(worker &here) noexcept {
    const bool begins = slot_ == 0;
    task *t = steal_from_slot(here, here.team.foreign_home(), slot_);
    return t || begins || slot_ != 0 ? t : steal_from_slot(here, here.team.foreign_home(), slot_);
}

bool foreign_tasks::may_have_elsewhere(const worker &here, bool soon_too) noexcept {
    const worker &home = here.team.foreign_home();
    return home.sources.may_have_stealable(home, soon_too);
}

// Other workers' -----------------------------------------------------------------------------------------------------------

task *tasks_of_others::steal(worker &here) noexcept {
    crowd &many = here.team.crowd;
    task *found = here.neighbours.find(
        [&](worker &victim) { return many.may_show(victim.index) ? steal_from(here, victim) : nullptr; });
    if (!found && many.exists()) [[unlikely]]
        many.shown.any(here.index, [&](unsigned shown) {
            worker &victim = *here.team.homes[shown];
            found = &victim == &here ? nullptr : steal_from(here, victim);
            if (!found)
                many.forget_if_empty(victim);
            return found != nullptr;
        });
    return found;
}

task *tasks_of_others::take_fair(worker &here) noexcept {
    if (!here.team.may_steal())
        return nullptr;
    task *t = steal_from_slot(here, other_worker(here, victim_), slot_);
    if (slot_ == 0)
        victim_ = other_after(here, victim_);
    return t;
}

bool tasks_of_others::may_have_elsewhere(const worker &here, bool soon_too) noexcept {
    if (crowd &many = here.team.crowd; many.exists()) [[unlikely]]
        return many.shown.any(here.index, [&](unsigned shown) {
            const worker &victim = *here.team.homes[shown];
            many.forget_if_empty(victim);
            return &victim != &here && victim.sources.may_have_stealable(victim, soon_too);
        });
    return here.neighbours.any(
        [&](const worker &victim) { return victim.sources.may_have_stealable(victim, soon_too); });
}

// Hidden --------------------------------------------------------------------------------------------------------------------

bool hidden_tasks::reveal(worker &here) noexcept {
    const crowd &many = here.team.crowd;
    return here.team.private_words && here.neighbours.any([&](worker &victim) {
        return many.may_hide(victim.index) && victim.tasks.may_have_private() && victim.tasks.revoke() != 0;
    });
}

bool hidden_tasks::may_have_elsewhere(worker &here, bool) noexcept {
    const worker_team &team = here.team;
    if (!team.crowd.exists())
        return reveal(here);
    return team.private_words && team.crowd.hiding.any(here.index, [&](unsigned number) {
        worker &victim = *team.homes[number];
        return &victim != &here && victim.tasks.may_have_private() && victim.tasks.revoke() != 0;
    });
}

void hidden_tasks::ask(worker &here) noexcept {
    for (unsigned w = 0; w < worker_bits::words; ++w) {
        asked_[w] = here.team.crowd.hiding.take_word(w);
        worker_bits::any_of(asked_[w], w, [&](unsigned number) {
            here.team.homes[number]->request_work();
            return false;
        });
    }
}

// Of one victim, a word: the search that follows takes the first of its tasks. The others are looked at
// again.
bool hidden_tasks::reveal_asked(worker &here) noexcept {
    bool found = false;
    for (unsigned w = 0; w < worker_bits::words; ++w)
        worker_bits::any_of(asked_[w], w, [&](unsigned number) {
            worker &victim = *here.team.homes[number];
            if (&victim != &here && victim.tasks.may_have_private()) {
                here.team.crowd.hiding.add(number);
                found = found || victim.tasks.revoke() != 0;
            }
            return false;
        });
    return found;
}

// Tasks hidden by a worker that has made no decision since this worker's last check: its private tasks, and
// those of the sources that are stolen from where there is no progress. A worker that makes decisions takes
// them itself.
task *hidden_tasks::take_stalled(worker &here) noexcept {
    if (!here.team.may_steal())
        return nullptr;
    worker &victim = other_worker(here, victim_);
    const bool still = victim.decisions.count() == decisions_;
    victim_ = other_after(here, victim_);
    decisions_ = other_worker(here, victim_).decisions.count();
    if (still && here.team.private_words && victim.tasks.may_have_private() && victim.tasks.revoke() != 0)
        if (std::uint32_t first = 0; task *t = steal_from_slot(here, victim, first))
            return t;
    return here.sources.steal_stalled(here);
}

task *hidden_tasks::take_fair(worker &here) noexcept {
    return ++turns_ % turns_per_hidden_check == 0 ? take_stalled(here) : nullptr;
}

} // namespace fult::detail
