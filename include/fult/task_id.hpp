/// @file
/// Task ids, and signal.
#pragma once

#include <compare>
#include <cstdint>

#include <fult/detail/platform.hpp>

namespace fult {

/// Identifies a task while it lives: home worker and slot in one word. Trivially copyable. A slot is reused
/// after its task has ended, so an id must not be used for longer: a signal would reach the next task in the
/// slot, as a spurious wake-up.
class task_id {
  public:
    constexpr task_id() noexcept = default;
    /// True if it identifies a task; false if default-constructed.
    constexpr explicit operator bool() const noexcept { return value_ != 0; }
    friend constexpr bool operator==(task_id, task_id) noexcept = default;
    friend constexpr auto operator<=>(task_id, task_id) noexcept = default;

    /// An integer to print or to hash; unique among living tasks.
    constexpr std::uintptr_t value() const noexcept { return value_; }

    /// The inverse of value(), for interfaces that carry a task id as an integer.
    static constexpr task_id from_value(std::uintptr_t value) noexcept {
        task_id id;
        id.value_ = value;
        return id;
    }

  private:
    std::uintptr_t value_ = 0; ///< the descriptor's address; lowest bit: the task is pinned to its home
};

/// Makes the task ready, or lets its next wait() return at once: one signal is retained. From any thread, a
/// task or not, while the runtime is running. The id must not be empty. Never suspends, allocates or fails:
/// one atomic OR, and a system call only if an idle worker must be woken. Everything written before the call
/// is visible after the wait that it ends. Source: Signal in section 4.2.2 of H.-V. Dang's dissertation
/// (Illinois, 2018).
FULT_API void signal(task_id task) noexcept;

} // namespace fult
