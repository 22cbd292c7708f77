// The word that a jump carries to the next context: what was switched away from, and why.
#pragma once

#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::detail {

struct stack;
struct task;

// What the next context must do for the context that was switched away from. It is stored in the low bits of
// the word that a jump carries: the registers are saved only after the jump, and only then may another worker
// run the task.
enum class switch_reason : std::uintptr_t {
    scheduler = 0, // from the scheduler context
    suspend = 1,   // the task waits for a signal
    yield = 2,     // the task is ready
    idle = 3,      // the stack has no task
};

class switch_word {
  public:
    static switch_word of_scheduler() noexcept { return {switch_reason::scheduler, nullptr}; }
    static switch_word of(switch_reason how, const task *left) noexcept { return {how, left}; }
    static switch_word of_idle(const stack *left) noexcept { return {switch_reason::idle, left}; }
    // The inverse of carried().
    FULT_ALWAYS_INLINE explicit switch_word(std::uintptr_t carried) noexcept : value_(carried) {}

    std::uintptr_t carried() const noexcept { return value_; }
    switch_reason reason() const noexcept { return static_cast<switch_reason>(value_ & mask); }
    task *left_task() const noexcept {
        FULT_ASSERT(reason() == switch_reason::suspend || reason() == switch_reason::yield);
        return at_address<task>(value_ & ~mask);
    }
    stack *left_stack() const noexcept {
        FULT_ASSERT(reason() == switch_reason::idle);
        return at_address<stack>(value_ & ~mask);
    }

  private:
    static constexpr std::uintptr_t mask = 7;
    FULT_ALWAYS_INLINE switch_word(switch_reason how, const void *what) noexcept
        : value_(address_of(what) | static_cast<std::uintptr_t>(how)) {
        FULT_ASSERT((address_of(what) & mask) == 0, "tasks and stacks are aligned");
    }
    std::uintptr_t value_;
};
static_assert(sizeof(switch_word) == sizeof(void *));

} // namespace fult::detail
