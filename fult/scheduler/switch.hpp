// Switches a worker from one task to another, by a jump between contexts, which carries a word to the next
// one. The only user of Boost.Context. Inlined as a whole: a return after a jump is mispredicted, since
// processors predict returns by the calls they saw. So yield and wait jump themselves and return once.
#pragma once

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <boost/context/detail/fcontext.hpp>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/detail/platform.hpp>

#include "fult/base/sanitizer.hpp"
#include "fult/tasks/task.hpp"
#include "way_home.hpp"
#include "worker.hpp"

namespace fult::detail {

// Jumps ---------------------------------------------------------------------------------------------------------

// The result of a jump: the context that was switched away from, and a word from it.
struct jump_result {
    void *from;
    std::uintptr_t word;
};

// A context that begins with a call of Entry, which does not return, with the result of the jump to it.
template <auto Entry> void *make_context(void *stack_top, std::size_t size) noexcept {
    return boost::context::detail::make_fcontext(stack_top, size, [](boost::context::detail::transfer_t in) {
        Entry(jump_result{in.fctx, address_of(in.data)});
    });
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

// Arriving ----------------------------------------------------------------------------------------------------------------------

// Marks a task as suspended. Its registers have been saved.
FULT_ALWAYS_INLINE void mark_suspended(task *left, task_state as) noexcept {
    const task_id id = to_id(left); // once ready, the task may run, end, and leave its slot to another
    set_suspended(*left, as);
    if (left->pending_wakeup.load(std::memory_order_seq_cst) != 0 &&
        left->pending_wakeup.exchange(0, std::memory_order_seq_cst) != 0)
        post_signal(id); // a signal came while the task was running: post its bit
}

// The first call in every context that is jumped to: completes the switch away from the previous context.
// From then on other workers may run it.
FULT_ALWAYS_INLINE worker *worker::finish_switch(jump_result in, [[maybe_unused]] void *fake) noexcept {
    sanitizer::after_jump(fake);
    worker *w = static_cast<worker *>(current_worker());
    const switch_word word(in.word);
    switch (word.reason()) {
    case switch_reason::scheduler:
        w->scheduler_context_ = in.from;
        break;
    case switch_reason::suspend: {
        task *const left = word.left_task();
        FULT_ASSERT(left && !left->context, "a task that leaves has no saved context yet");
        left->context = in.from;
        if (left->stack->pinned) [[unlikely]]
            mark_suspended_on_pinned_stack(left);
        else
            mark_suspended(left, ready);
        break;
    }
    case switch_reason::yield: {
        task *const left = word.left_task();
        FULT_ASSERT(left && !left->context, "a task that leaves has no saved context yet");
        left->context = in.from;
        auto *home = static_cast<worker *>(home_of(left));
        if (home == w && w->team.private_words && slot_of(left) < half_slots) {
            if (w->tasks.add_yielded(left)) [[unlikely]]
                w->publish_work(); // the next task may reach no other scheduling point
            break;
        }
        const bool only_home = stays_home(left);
        set_suspended(*left, only_home ? ready_pinned : ready);
        home->tasks.post(left, only_home);
        if (home != w || !only_home) // what runs now may reach no other scheduling point
            w->team.wake_for(*home, only_home);
        break;
    }
    case switch_reason::idle: {
        stack *const left = word.left_stack();
        left->idle = in.from;
        FULT_ASSERT(left != w->current_stack_);
        w->stacks_.give(left);
        break;
    }
    }
    return w;
}

// Saves rounding mode, masks and flags across a jump. Boost.Context saves them on x86-64, but not on Arm.
struct kept_fp_environment {
#if defined(__x86_64__)
    void restore() const noexcept {}
#else
    kept_fp_environment() noexcept { std::fegetenv(&kept); }
    void restore() const noexcept { std::fesetenv(&kept); }
    std::fenv_t kept;
#endif
};

// Leaving -----------------------------------------------------------------------------------------------------------------------

FULT_ALWAYS_INLINE worker *worker::jump_to(void *target, stack *on, std::uintptr_t limit,
                                           switch_word word) noexcept {
    const int saved_errno = *errno_;
    const exceptions_in_flight saved_exceptions = *exceptions_;
    current_stack_ = on; // set for the target, which sets neither itself
    stack_limit = inline_limit_ = limit;
    [[maybe_unused]] const kept_fp_environment fp;
    void *fake = nullptr;
    sanitizer::before_jump(&fake, on->low(), static_cast<std::size_t>(on->high() - on->low()), on->fiber);
    const jump_result in = jump(target, word.carried());
    worker *w = finish_switch(in, fake); // possibly another worker than before the jump
    *w->errno_ = saved_errno;
    *w->exceptions_ = saved_exceptions;
    fp.restore();
    return w;
}

// Resumes `next`, or starts it on a stack of its own.
FULT_ALWAYS_INLINE worker *worker::resume(task *next, switch_word word) noexcept {
    FULT_ASSERT(next->state.load(std::memory_order_relaxed) == busy,
                "a task is claimed before it is resumed");
    FULT_ASSERT(!next->pinned || home_of(next) == this, "a pinned task runs on its home");
    if (!next->context)
        return start(next, word);
    void *target = std::exchange(next->context, nullptr);
    current = next;
    if (next->extras || locals_cache) [[unlikely]]
        cache_locals(this, next->extras);
    return jump_to(target, next->stack, next->limit, word);
}

FULT_ALWAYS_INLINE worker *worker::switch_to_scheduler(switch_word word) noexcept {
    run_as(this, nullptr);
    return jump_to(scheduler_context_, scheduler_stack_, scheduler_stack_->limit, word);
}

FULT_ALWAYS_INLINE void worker::switch_from(task *self, switch_reason how, task *next) noexcept {
    FULT_ASSERT(current == self && self != next, "the running task leaves for another");
    self->stack = current_stack_;
    self->limit = inline_limit_;
    if (next)
        resume(next, switch_word::of(how, self));
    else
        switch_to_scheduler(switch_word::of(how, self));
    // Prevents a tail call: the caller's frame shows how the task waits (inspect.cpp, debuggers).
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

} // namespace fult::detail
