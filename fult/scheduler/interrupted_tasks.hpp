// The tasks of a worker whose rows of inline joins have ended (worker::end_row), the newest last. The
// scheduler resumes them before it starts other tasks: their unstarted children, started one by one instead,
// would each take a stack and keep their slots until they are joined.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <fult/detail/layout.hpp>

#include "work_source.hpp"

namespace fult::detail {

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

} // namespace fult::detail
