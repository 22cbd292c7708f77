// The sources of work of a worker: those of its own tasks, the list of all in the order of its choice, and
// the operations on all of them. docs/scheduler.md, "Adding a kind of runnable task".
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <fult/detail/layout.hpp>
#include <fult/detail/platform.hpp>

#include "handed_off_chain.hpp"
#include "other_homes.hpp"
#include "work_source.hpp"

namespace fult::detail {

// The ready tasks of the own home (ready_set.hpp) ------------------------------------------------------------------------------

// Tasks whose rows of inline joins have ended (worker::end_row), the newest last. The scheduler resumes them
// before it starts other tasks: their unstarted children, started one by one instead, would each take a stack
// and keep their slots until they are joined.
//
// Slots of the worker's own home. They are hints: such a task may have been resumed, or stolen. Of too many,
// the oldest are forgotten; they are yielded tasks like any other.
class interrupted_tasks : public preferred_source {
  public:
    void push(std::uint32_t slot) noexcept {
        if (count_ == slots_.size()) {
            std::copy(slots_.begin() + 1, slots_.end(), slots_.begin());
            --count_;
        }
        slots_[count_++] = slot;
    }

    // Forgets a task that has been resumed.
    void drop(std::uint32_t slot) noexcept {
        if (count_ != 0 && slots_[count_ - 1] == slot)
            --count_;
    }

    // Takes the newest that is still ready here.
    task *take(auto &here, bool yielding) noexcept {
        while (!yielding && count_ != 0)
            [[unlikely]] if (task *t = here.tasks.take_yielded(slots_[--count_])) return t;
        return nullptr;
    }

  private:
    std::array<std::uint32_t, 16> slots_{};
    std::uint32_t count_ = 0;
};

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

// All sources ------------------------------------------------------------------------------------------------------------------

// The folds below are compiled into the calls of the sources' own functions, one after the other; what a
// source does not have costs nothing.
template <class... Sources> class source_list {
    static_assert((std::is_base_of_v<work_source, Sources> && ...));

  public:
    template <class Source> Source &get() noexcept { return std::get<Source>(all_); }
    template <class Source> const Source &get() const noexcept { return std::get<Source>(all_); }

    // The first task in the order of the list; nullptr if no source has any.
    FULT_ALWAYS_INLINE task *take_at_once(worker &here) noexcept {
        return first([&](auto &s) { return s.take_at_once(here); });
    }
    FULT_ALWAYS_INLINE task *take(worker &here, bool yielding) noexcept {
        return first([&](auto &s) { return s.take(here, yielding); });
    }
    task *steal(worker &here) noexcept {
        return first([&](auto &s) { return s.steal(here); });
    }
    task *steal_stalled(worker &here) noexcept {
        return first([&](auto &s) { return s.steal_stalled(here); });
    }

    // The order of the list, beginning with First.
    template <class First> task *take_started_from(worker &here) noexcept {
        task *t = nullptr;
        const auto take = [&](bool now, auto &s) { return now && (t = s.take_started(here)); };
        static_cast<void>((take(index_of<Sources> >= index_of<First>, get<Sources>()) || ...) ||
                          (take(index_of<Sources> < index_of<First>, get<Sources>()) || ...));
        return t;
    }

    // The first task of a rotation that continues behind the source of the last time. Skipped has no turn.
    template <class Skipped> task *take_fair_except(worker &here) noexcept {
        return take_fair(here, turn_of<Skipped>);
    }
    task *take_fair(worker &here) noexcept { return take_fair(here, turns); }
    // Such a rotation begins with this source.
    template <class Source> void set_turn() noexcept { turn_ = turn_of<Source>; }

    static constexpr unsigned turns = (unsigned{Sources::in_rotation} + ...);

    // May a decision of this worker find a task?
    bool may_have_any(worker &here) noexcept { return (get<Sources>().may_have_any(here) || ...); }
    bool may_have_in_own_lines(worker &here) noexcept {
        return ((Sources::reads_own_lines && get<Sources>().may_have_any(here)) || ...);
    }
    FULT_ALWAYS_INLINE bool may_have_at_once(worker &here) noexcept {
        return ((Sources::is_at_once && get<Sources>().may_have_any(here)) || ...);
    }
    // May a search of this worker find a task? soon_too: count tasks that their worker is about to run.
    bool may_have_elsewhere(worker &here, bool soon_too) noexcept {
        return (get<Sources>().may_have_elsewhere(here, soon_too) || ...);
    }
    bool may_have_without_worker(worker &here) noexcept {
        return ((Sources::has_no_worker && get<Sources>().may_have_elsewhere(here, true)) || ...);
    }
    // May another worker find a task of this one?
    bool may_have_stealable(const worker &victim, bool soon_too) const noexcept {
        return (((soon_too || !Sources::runs_soon) && get<Sources>().may_have_stealable(victim)) || ...);
    }
    bool reveal(worker &here) noexcept { return (get<Sources>().reveal(here) || ...); }

    // each(source), in the order of the list.
    template <class Each> void for_each(const Each &each) const { (each(get<Sources>()), ...); }
    template <class Each> void for_each(const Each &each) { (each(get<Sources>()), ...); }

  private:
    template <class Take> FULT_ALWAYS_INLINE task *first(const Take &take) noexcept {
        task *t = nullptr;
        static_cast<void>(((t = take(get<Sources>())) || ...));
        return t;
    }

    // Number of sources before this one, of all and of those in the rotation.
    template <class Source> static constexpr unsigned count_before(bool in_rotation_only) noexcept {
        unsigned count = 0;
        bool before = true;
        ((before = before && !std::is_same_v<Source, Sources>,
          count += before && (Sources::in_rotation || !in_rotation_only)),
         ...);
        return count;
    }
    template <class Source> static constexpr unsigned index_of = count_before<Source>(false);
    template <class Source> static constexpr unsigned turn_of = count_before<Source>(true);

    using fair_function = task *(*)(source_list &, worker &) noexcept;
    struct rotation {
        fair_function of[turns]{};
    };
    template <class Source> static constexpr void put(rotation &all) noexcept {
        if constexpr (Source::in_rotation)
            all.of[turn_of<Source>] = [](source_list &from, worker &here) noexcept {
                return from.template get<Source>().take_fair(here);
            };
    }
    static constexpr rotation rotate() noexcept {
        rotation all;
        (put<Sources>(all), ...);
        return all;
    }

    task *take_fair(worker &here, unsigned skipped) noexcept {
        static constexpr rotation in_turn = rotate();
        task *t = nullptr;
        for (unsigned tries = 0; !t && tries < turns; ++tries) {
            const unsigned turn = turn_++ % turns;
            if (turn != skipped)
                t = in_turn.of[turn](*this, here);
        }
        return t;
    }

    std::tuple<Sources...> all_;
    std::uint32_t turn_ = 0;
};

// A worker's newest tasks come first, then those that yielded, then what others made ready: so its caches
// keep what a tree of tasks needs. A task that yields prefers tasks that have a stack.
using work_sources =
    source_list<handed_off_chain, interrupted_tasks, unstarted_tasks, yielded_tasks, unstarted_for_yield,
                pinned_tasks, public_tasks, foreign_tasks, tasks_of_others, hidden_tasks>;

// No source comes twice, so a fairness decision is a turn of each in a fixed number of them.
static_assert(work_sources::turns == 8, "docs/scheduler.md, The bound: 8 sources");

} // namespace fult::detail
