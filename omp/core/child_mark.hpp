// The children of a task, newest first: the task has the mark of the newest, and each child that of the one
// before (stored_task). So a task that waits finds its children wherever their slots are.
//
// A mark is a hint. The child may have started elsewhere, and its slot may have another task by now. Marks
// are written and read on the thread of the parent, and the slots are those of its worker. The number shows
// whether the slot still has that child or a newer task, and makes a walk along the marks end: it falls by
// one at each step.
#pragma once

#include <cstdint>

namespace fult::omp {

class child_mark {
  public:
    constexpr child_mark() noexcept = default; // none
    // Of the child that is submitted after the one of this mark, in the slot at this distance from its
    // worker.
    constexpr child_mark next(std::uintptr_t distance) const noexcept {
        return child_mark((word_ & ~distance_mask) + one_number + distance);
    }
    constexpr explicit operator bool() const noexcept { return (word_ & distance_mask) != 0; }
    constexpr std::uintptr_t distance() const noexcept { return word_ & distance_mask; }
    // True if a child that was submitted after the one of `older` has the number of this mark.
    constexpr bool follows(child_mark older) const noexcept {
        return (word_ & ~distance_mask) == (older.word_ & ~distance_mask) + one_number;
    }

  private:
    // No task has distance 0. A number that is used again, after 2^32 children, does no harm.
    static constexpr std::uint64_t one_number = std::uint64_t{1} << 32;
    static constexpr std::uint64_t distance_mask = one_number - 1;
    constexpr explicit child_mark(std::uint64_t word) noexcept : word_(word) {}
    std::uint64_t word_ = 0;
};

static_assert(!child_mark() && child_mark().next(5).distance() == 5);
static_assert(child_mark().next(5).follows(child_mark()) &&
              !child_mark().next(5).next(6).follows(child_mark()));

} // namespace fult::omp
