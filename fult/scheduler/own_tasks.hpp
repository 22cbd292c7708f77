// Sources of work: the ready tasks of the worker's own home (ready_set.hpp).
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/layout.hpp>

#include "work_source.hpp"

namespace fult::detail {

// Private tasks that have not started. Thieves find them once they are published or revoked.
struct unstarted_tasks : own_source {
    static constexpr bool reads_own_lines = true;
    static constexpr bool started = false;
    static bool may_have_any(auto &here) noexcept { return here.tasks.any_unstarted(); }
    static task *take(auto &here, bool yielding) noexcept {
        return !yielding && here.tasks.may_have_ready() ? here.tasks.take_ready() : nullptr;
    }
    static task *take_fair(auto &here) noexcept { return here.tasks.take_ready_in_turn(); }
    static bool holds_private(const auto &home, std::uint32_t slot) noexcept {
        return home.tasks.is_private(slot, started);
    }
};

// Private tasks that have yielded.
struct yielded_tasks : own_source {
    static constexpr bool reads_own_lines = true;
    static bool may_have_any(auto &here) noexcept { return here.tasks.any_yielded(); }
    static task *take(auto &here, bool) noexcept {
        if (!here.tasks.may_have_yielded())
            return nullptr;
        task *t = here.tasks.take_yielded_at_turn();
        return t ? t : here.tasks.take_yielded_in_turn();
    }
    static task *take_started(auto &here) noexcept { return here.tasks.take_yielded_in_turn(); }
    static task *take_fair(auto &here) noexcept { return here.tasks.take_yielded_in_turn(); }
    static bool holds_private(const auto &home, std::uint32_t slot) noexcept {
        return home.tasks.is_private(slot, started);
    }
};

// The unstarted tasks, where a task that yields wants them: behind those that need no stack.
struct unstarted_for_yield : preferred_source {
    static task *take(auto &here, bool yielding) noexcept {
        return yielding && here.tasks.may_have_ready() ? here.tasks.take_ready() : nullptr;
    }
};

// Public tasks that this worker alone may run.
struct pinned_tasks : own_source {
    static bool may_have_any(auto &here) noexcept { return here.tasks.may_have_pinned(); }
    static task *take(auto &here, bool) noexcept { return here.tasks.take_pinned(); }
    static task *take_started(auto &here) noexcept { return here.tasks.take_pinned(true); }
    static task *take_fair(auto &here) noexcept { return here.tasks.take_pinned_in_turn(); }
    static bool holds_public(const auto &home, std::uint32_t slot) noexcept {
        return home.tasks.pinned().contains(slot);
    }
};

// Public tasks, which thieves may take: signaled, published, or spawned by others.
struct public_tasks : own_source {
    static bool may_have_any(auto &here) noexcept { return here.tasks.may_have_public(); }
    static task *take(auto &here, bool) noexcept {
        const auto requests = [&] { return here.request_flags.load(std::memory_order_relaxed); };
        const bool gather =
            here.team.private_words && requests() == 0 &&
            (here.team.stealing_disabled || here.team.searching.load(std::memory_order_relaxed) == 0);
        task *const t = here.tasks.take_public(false, gather);
        if (gather && (requests() & work_requested) != 0) [[unlikely]] {
            here.publish_work();              // work was requested while the gathered tasks were not visible
            if (here.tasks.may_have_public()) // some tasks are public again
                here.team.wake_for(here, false);
        }
        return t;
    }
    static task *take_started(auto &here) noexcept { return here.tasks.take_public(true); }
    static task *take_fair(auto &here) noexcept { return here.tasks.take_public_in_turn(); }
    static bool may_have_stealable(const auto &victim) noexcept { return victim.tasks.may_have_public(); }
    static bool holds_public(const auto &home, std::uint32_t slot) noexcept {
        return home.tasks.runnable().contains(slot);
    }
};

} // namespace fult::detail
