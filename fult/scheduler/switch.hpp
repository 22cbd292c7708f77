// Switches a worker from one task to another. Inlined as a whole: a return after a jump is mispredicted,
// since processors predict returns by the calls they saw. So yield and wait jump themselves and return once.
#pragma once

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "context.hpp"
#include "fult/base/sanitizer.hpp"
#include "fult/tasks/task.hpp"
#include "way_home.hpp"
#include "worker.hpp"

namespace fult::detail {

// Marks a task as suspended. Its registers have been saved.
FULT_ALWAYS_INLINE void mark_suspended(task *left, task_state as) noexcept {
    const task_id id = to_id(left); // once ready, the task may run, end, and leave its slot to another
    set_suspended(*left, as);
    if (left->pending_wakeup.load(std::memory_order_seq_cst) != 0 &&
        left->pending_wakeup.exchange(0, std::memory_order_seq_cst) != 0)
        post_signal(id); // a signal came while the task was running: post its bit
}

// Arriving ----------------------------------------------------------------------------------------------------------------------

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
    stack *const base = scheduler_stack_ ? scheduler_stack_ : &thread_stack_;
    return jump_to(scheduler_context_, base, base->limit, word);
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
