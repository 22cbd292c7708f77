// How a worker moves from one task to another. Inline as a whole: a return after a jump is dear where the
// processor predicts returns by the calls that it saw, so yield and wait jump themselves and return once.
#pragma once

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <utility>

#include <fult/detail/fast_path.hpp>

#include "context.hpp"
#include "sanitizer.hpp"
#include "task.hpp"
#include "way_home.hpp"
#include "worker.hpp"

namespace fult::detail {

inline constexpr std::uintptr_t leave_mask = 7;

inline std::uintptr_t encode(leave how, const void *what) noexcept {
    return reinterpret_cast<std::uintptr_t>(what) | static_cast<std::uintptr_t>(how);
}

// A task waits from here on, its registers saved.
FULT_ALWAYS_INLINE void park(task *left, task_state as) noexcept {
    const task_id id = to_id(left); // once it is ready it may run, end, and leave its slot to another
    left->state.exchange(as, std::memory_order_seq_cst); // pairs with claim
    if (left->token.load(std::memory_order_seq_cst) != 0 &&
        left->token.exchange(0, std::memory_order_seq_cst) != 0)
        post_signal(id); // it came while the task ran; the bit is ours to post
}

// Arriving ----------------------------------------------------------------------------------------------------------------------

// First thing on every context that is jumped to: finishes what was left behind. From here on others may run
// it.
FULT_ALWAYS_INLINE worker *worker::arrive(arrival in, [[maybe_unused]] void *fake) noexcept {
    sanitizer::after_jump(fake);
    worker *w = static_cast<worker *>(current_worker());
    void *what = reinterpret_cast<void *>(in.word & ~leave_mask);
    switch (static_cast<leave>(in.word & leave_mask)) {
    case leave::base:
        w->base_ = in.from;
        break;
    case leave::park: {
        auto *left = static_cast<task *>(what);
        left->context = in.from;
        if (left->on->pinned) [[unlikely]]
            park_on_pinned_stack(left);
        else
            park(left, ready);
        break;
    }
    case leave::yield: {
        auto *left = static_cast<task *>(what);
        left->context = in.from;
        auto *home = static_cast<worker *>(home_of(left));
        if (home == w && w->crew.private_words && slot_of(left) < half_slots) {
            w->tasks.add_yielded(left);
            if (w->attention.load(std::memory_order_relaxed) & hungry) [[unlikely]]
                w->feed(); // what runs now may reach no other scheduling point
            break;
        }
        const bool only_home = stays_home(left);
        left->state.exchange(only_home ? ready_pinned : ready, std::memory_order_seq_cst); // pairs with claim
        home->tasks.post(left, only_home);
        if (home != w || !only_home) // what runs now may reach no other scheduling point
            w->crew.wake_for(*home, only_home);
        break;
    }
    case leave::idle: {
        auto *left = static_cast<stack *>(what);
        left->idle = in.from;
        w->give_stack(left);
        break;
    }
    }
    return w;
}

// Rounding, masks and flags across a jump. Boost.Context keeps them on x86-64, and not on Arm.
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
                                           std::uintptr_t word) noexcept {
    const int saved_errno = *errno_;
    const exceptions_in_flight saved_exceptions = *exceptions_;
    here_ = on; // where the target is to find itself: it sets neither when it arrives
    stack_limit = floor_ = limit;
    [[maybe_unused]] const kept_fp_environment fp;
    void *fake = nullptr;
    sanitizer::before_jump(&fake, on->low(), static_cast<std::size_t>(on->high() - on->low()), on->fiber);
    const arrival in = jump(target, word);
    worker *w = arrive(in, fake); // perhaps another worker than the one that left
    *w->errno_ = saved_errno;
    *w->exceptions_ = saved_exceptions;
    fp.restore();
    return w;
}

// Continues `next`, or starts it on a stack of its own.
FULT_ALWAYS_INLINE worker *worker::resume(task *next, std::uintptr_t word) noexcept {
    if (!next->context)
        return start(next, word);
    void *target = std::exchange(next->context, nullptr);
    current = next;
    if (next->extras || known) [[unlikely]]
        know_locals(this, next->extras);
    return jump_to(target, next->on, next->limit, word);
}

FULT_ALWAYS_INLINE worker *worker::go_to_base(std::uintptr_t word) noexcept {
    run_as(this, nullptr);
    stack *const base = base_pooled_ ? base_pooled_ : &base_stack_;
    return jump_to(base_, base, base->limit, word);
}

FULT_ALWAYS_INLINE void worker::switch_from(task *self, leave how, task *next) noexcept {
    self->on = here_;
    self->limit = floor_;
    if (next)
        resume(next, encode(how, self));
    else
        go_to_base(encode(how, self));
    // No tail call: the caller's frame tells how the task waits (inspect.cpp, debuggers).
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

} // namespace fult::detail
