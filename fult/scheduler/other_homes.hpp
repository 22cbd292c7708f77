// Sources of work: the ready tasks of other homes.
#pragma once

#include <array>
#include <cstdint>

#include "fult/base/worker_bits.hpp"
#include "work_source.hpp"

namespace fult::detail {

// Tasks that foreign threads spawned.
class foreign_tasks : public other_source {
  public:
    static constexpr bool has_no_worker = true;
    static task *steal(worker &here) noexcept;
    task *take_fair(worker &here) noexcept;
    static bool may_have_elsewhere(const worker &here, bool soon_too) noexcept;

  private:
    std::uint32_t slot_ = 0; // position of the sweep
};

// What other workers' sources let a thief see.
class tasks_of_others : public other_source {
  public:
    // One attempt at each other home, nearest group first, starting at a random member of the group. In a
    // crowd: at the neighbours, then at the homes that hints show.
    static task *steal(worker &here) noexcept;
    // One home per turn.
    task *take_fair(worker &here) noexcept;
    static bool may_have_elsewhere(const worker &here, bool soon_too) noexcept;

  private:
    unsigned victim_ = 0;    // position of the sweep over the other homes,
    std::uint32_t slot_ = 0; // and in that home
};

// Private tasks of workers that reach no scheduling point.
class hidden_tasks : public other_source {
  public:
    static bool reveal(worker &here) noexcept;
    task *take_stalled(worker &here) noexcept; // looks at one worker a call, in turn
    task *take_fair(worker &here) noexcept;    // the same at some calls
    static bool may_have_elsewhere(worker &here, bool soon_too) noexcept;

    // In a crowd, by a worker that falls asleep, with a fence between the two: sets work_requested wherever
    // it may be missing; then looks there, and returns true if a task was hidden.
    void ask(worker &here) noexcept;
    bool reveal_asked(worker &here) noexcept;

  private:
    std::array<std::uint64_t, worker_bits::words> asked_{}; // taken from crowd::hiding
    std::uint32_t turns_ = 0;
    unsigned victim_ = 0;         // the worker checked last,
    std::uint32_t decisions_ = 0; // and its decisions at that time
};

} // namespace fult::detail
