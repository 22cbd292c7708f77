// The task kernel: a slot for a new task, an unstarted task and its claim, and the run of a claimed task
// above the running one. Spawn and join, task groups and OpenMP's tasks are built from these; no atomic
// instruction, no call into the library.
//
// The owner of a private word changes it by a plain store, then loads `request_flags` once. A thief that
// needs private work sets `revoked` there and lets membarrier order the two sides (docs/scheduler.md, "Work
// for others"; tests/model/revoke.pml). So the owner needs no fence: the compiler barrier below is enough.
#pragma once

#include <cstddef>

#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

FULT_API task *take_slot_slow(); // throws std::system_error; may suspend
// A slot of the calling worker's, or null. Does not suspend.
//   last: null if none is free
//   spare: some are left for those that ask for the last one; null too if no stack can be allocated
//   refuse: null too if a quarter of the worker's table is taken
enum class if_many { last, spare, refuse };
FULT_API task *try_take_slot(if_many taken) noexcept;
FULT_API bool has_slot(if_many taken) noexcept;      // last and spare: there is one, but for its memory
FULT_API void make_ready_slow(task *t) noexcept;     // makes t runnable
FULT_API void poll_requests(worker_hot *w) noexcept; // handles the request flags after a spawn
// handles the request flags after a claim; true if t was not revoked
FULT_API bool poll_requests_after_claim(worker_hot *w, task *t) noexcept;
FULT_API void release_slot_slow(worker_hot *w, task *t) noexcept; // the slow cases of release_slot
// ends the current inline task if at_end_mask is not clear; may suspend
FULT_API void end_inline_slow(task *t) noexcept;

// Slots ---------------------------------------------------------------------------------------------------------

// Prefetch distance in slots, for many tasks that are spawned or joined in order: a million descriptors are
// in memory, not in a cache. Not a multiple of 32: the loads and stores of neighbours would wait for the
// prefetch, by their low twelve address bits.
inline constexpr std::ptrdiff_t ahead = 80;

// False: take_slot_slow takes one. Always so on foreign threads.
FULT_ALWAYS_INLINE bool has_private_slot(const worker_hot *w) noexcept { return w->run.next != w->run.end; }

// False: no task is private to this worker (FULT_PRIVATE_WORDS=0).
FULT_ALWAYS_INLINE bool has_private_tasks(const worker_hot *w) noexcept { return w->run.next != nullptr; }

// A slot of the calling worker, which has one, for a task that becomes ready by make_ready_private.
FULT_ALWAYS_INLINE task *take_private_slot(worker_hot *w) noexcept {
    task *const t = w->run.next;
    FULT_ASSERT(t != w->run.end, "the caller has looked");
    w->run.next = t + 1;
    __builtin_prefetch(t + ahead, 1);
    return t;
}

// Counts a spawn or a run for the row that end_row ends.
FULT_ALWAYS_INLINE void count_in_row(worker_hot *w, std::uintptr_t count = 1) noexcept {
    w->stack_limit += count * row_step;
}

// The slot that was taken last, of those that are not free again. Only if has_private_tasks.
FULT_ALWAYS_INLINE task *newest_slot(const worker_hot *w) noexcept { return w->run.next - 1; }

// Frees a slot. Fast if slots are freed in the reverse order of taking, as for tasks joined by their parents.
FULT_ALWAYS_INLINE void release_slot(worker_hot *w, task *t) noexcept {
    if (t + 1 == w->run.next) [[likely]] // so it is one of w's own
        w->run.next = t;
    else
        release_slot_slow(w, t);
}

// Unstarted tasks -----------------------------------------------------------------------------------------------

// Orders the owner's plain store before its load of request_flags for the compiler. The thief orders them for
// the processor.
FULT_ALWAYS_INLINE void owner_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

// Makes t, a complete task in a private slot of the calling worker w, runnable there.
FULT_ALWAYS_INLINE void make_ready_private(worker_hot *w, task *t) noexcept {
    // release: a thief that reads the byte (revoke) must see what t will run
    ready_byte_at(w, distance_in_slots(w, t))->store(1, std::memory_order_release);
    owner_barrier();
    if (is_set(w->request_flags)) [[unlikely]]
        poll_requests(w);
}

// True if the slot has an unstarted task that is private to the calling worker w, whose home it is.
FULT_ALWAYS_INLINE bool is_unstarted_private(worker_hot *w, std::uintptr_t distance) noexcept {
    return is_set(*ready_byte_at(w, distance));
}

// Claims such a task, which the caller must run. False: a thief has taken it.
FULT_ALWAYS_INLINE bool claim_unstarted(worker_hot *w, task *t, std::uintptr_t distance) noexcept {
    ready_byte_at(w, distance)->store(0, std::memory_order_relaxed);
    owner_barrier();
    return !is_set(w->request_flags) || poll_requests_after_claim(w, t);
}

// Too little of the stack is left to run a task above the running one, or a long row of such runs has raised
// the limit (end_row). Always so on foreign threads.
FULT_ALWAYS_INLINE bool is_stack_low(const worker_hot *w) noexcept { return stack_below(w->stack_limit); }

// Claims an unstarted private task for its joiner, which must run it. Returns false if the task is not
// private to w, or the stack is too low for it.
FULT_ALWAYS_INLINE bool claim_private(worker_hot *w, task *t) noexcept {
    const std::uintptr_t distance = distance_in_slots(w, t);
    if (distance >= slots_in_home || is_stack_low(w)) [[unlikely]]
        return false;
    return is_unstarted_private(w, distance) && claim_unstarted(w, t, distance);
}

// The run above -------------------------------------------------------------------------------------------------

// Caches the task-local values of the task that runs on this thread from here on; nullptr: not known. The
// worker has a copy, too: next to its other fields it is checked in one instruction.
FULT_ALWAYS_INLINE void cache_locals(worker_hot *w, const local_values *values) noexcept {
    w->locals_cache = values;
    set_cached_locals(values ? values : &no_locals);
}
FULT_ALWAYS_INLINE void drop_cached_locals(worker_hot *w) noexcept {
    if (w->locals_cache) [[unlikely]]
        cache_locals(w, nullptr);
}

// Makes t, or no task, current on this thread. Its task-local values are cached on first use: reading the
// other cache line of the descriptor would slow down every task.
FULT_ALWAYS_INLINE void run_as(worker_hot *w, task *t) noexcept {
    w->current = t;
    drop_cached_locals(w);
}

// The task that runs here; nullptr: a foreign thread, or a scheduler. Two loads.
FULT_ALWAYS_INLINE task *running_task() noexcept { return current_worker()->current; }

enum class slot_after { free, kept };

// The run of a claimed, unstarted task on the stack of the running one: t is the current task from the
// constructor on, and ends in the destructor, however its closure exits. In between, the stack may have moved
// to another worker. Stores both task pointers itself: reading them back would chain the end of each task to
// the one before, through memory.
// Declare no such object const: gcc 12 then keeps it in memory, which costs fib a tenth.
template <slot_after slot> class run_above {
  public:
    FULT_ALWAYS_INLINE run_above(worker_hot *w, task *t) noexcept : task_(t), below_(w->current) {
        t->outer = outer_word::above(below_);
        run_as(w, t);
    }
    FULT_ALWAYS_INLINE ~run_above() {
        if (task_->outer != outer_word::above(below_)) [[unlikely]] // at_end_mask
            end_inline_slow(task_);
        worker_hot *w = current_worker();
        w->current = below_; // cached values belonged to the task and ended with it
        if constexpr (slot == slot_after::free)
            release_slot(w, task_);
    }
    run_above(const run_above &) = delete;
    run_above &operator=(const run_above &) = delete;

  private:
    task *task_;
    task *below_;
};

} // namespace fult::detail
