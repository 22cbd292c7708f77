// A source of work: a place where a worker looks for ready tasks. Each kind of runnable task has one;
// work_sources.hpp has the list, and the operations on all of them.
//
// A source is derived from one of the three types at the end, and has the functions whose defaults below are
// not right for it. The functions are not virtual: a fold over the list calls the one of the source. Where a
// source has `auto &here` instead of `worker &here`, that is because a worker contains its sources.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult::detail {

class worker;

// `here` is the worker that looks, and that contains the source.
struct work_source {
    // Decisions of the worker -----------------------------------------------------------------------------------------------

    // An ordinary decision, before the worker handles requests.
    static task *take_at_once(worker &) noexcept { return nullptr; }
    // An ordinary decision. yielding: of a task that yields.
    static task *take(worker &, bool /*yielding*/) noexcept { return nullptr; }
    // A decision while no stack can be allocated: a task that has one.
    static task *take_started(worker &) noexcept { return nullptr; }
    // A fairness decision: the next task of a sweep that reaches each of the source. It has no default:
    // without it, a source breaks the promise of docs/scheduler.md, "Fairness". task *take_fair(worker &here)
    // noexcept;
    static constexpr bool in_rotation = true;

    static constexpr bool is_at_once = false; // has take_at_once
    static constexpr bool reads_own_lines =
        false; // may_have_any reads no cache line that other workers write

    // Other workers' and no worker's tasks ------------------------------------------------------------------------------------

    // A worker searches: takes a task of another home.
    static task *steal(worker &) noexcept { return nullptr; }
    // The same, less often: takes a task of a worker that makes no progress.
    static task *steal_stalled(worker &) noexcept { return nullptr; }
    // The same, after a while: makes tasks public that a worker hides. Returns true if there are such.
    static bool reveal(worker &) noexcept { return false; }
    // Of the source of a victim, from any thread: false if `steal` or `steal_stalled` finds nothing there.
    static bool may_have_stealable(const worker & /*victim*/) noexcept { return false; }
    // The victim is about to run these tasks itself: a worker in poll sleep does not check them.
    static constexpr bool runs_soon = false;
    // No worker is the home of these tasks: all are responsible for them.
    static constexpr bool has_no_worker = false;

    // The inspector, from any thread ------------------------------------------------------------------------------------------

    // True if the busy task of this slot is ready here; `started`: these tasks have a stack.
    static bool holds_private(const worker & /*home*/, std::uint32_t /*slot*/) noexcept { return false; }
    static constexpr bool started = true;
    // True if the claimable task of this slot is ready here.
    static bool holds_public(const worker & /*home*/, std::uint32_t /*slot*/) noexcept { return false; }
    // visit(t) for claimed tasks that no slot's bit shows. find(address): the task there, or nullptr.
    template <class Find, class Visit> void visit(const Find &, const Visit &) const noexcept {}

    // In the child of a fork: forgets tasks that no request flag protects.
    void drop_in_forked_child() noexcept {}
};

// Tasks that the worker's own decisions find. Such a source also has:
//   bool may_have_any(worker &here) noexcept;    false: they find nothing
struct own_source : work_source {
    static bool may_have_elsewhere(worker &, bool) noexcept { return false; }
};

// Tasks of other homes. Such a source also has:
//   bool may_have_elsewhere(worker &here, bool soon_too) noexcept;    false: a search finds nothing.
//                                                                  soon_too: count what runs_soon
struct other_source : work_source {
    static bool may_have_any(const worker &) noexcept { return false; }
};

// Tasks that are in another source as well, and that come sooner than there: take alone.
struct preferred_source : own_source {
    static constexpr bool in_rotation = false;
    static bool may_have_any(const worker &) noexcept { return false; }
};

} // namespace fult::detail
