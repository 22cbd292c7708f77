// Stack switching: jumps between contexts, and the word that a jump carries to the next one. The only user of
// Boost.Context.
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/context/detail/fcontext.hpp>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::detail {

struct stack;
struct task;

// The result of a jump: the context that was switched away from, and a word from it.
struct jump_result {
    void *from;
    std::uintptr_t word;
};

using context_entry = void (*)(boost::context::detail::transfer_t);

inline jump_result to_jump_result(boost::context::detail::transfer_t t) noexcept {
    return {t.fctx, address_of(t.data)};
}

inline void *make_context(void *stack_top, std::size_t size, context_entry entry) noexcept {
    return boost::context::detail::make_fcontext(stack_top, size, entry);
}

// Switches to another context; returns when another jump comes back. The suspended context must not be
// touched until then.
FULT_ALWAYS_INLINE jump_result jump(void *to, std::uintptr_t word) noexcept {
    static_assert(sizeof(two_words) == sizeof(boost::context::detail::transfer_t));
    const auto in = call_that_jumps_back(reinterpret_cast<void *>(&boost::context::detail::jump_fcontext), to,
                                         at_address<void>(word));
    return {in.first, address_of(in.second)};
}

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
