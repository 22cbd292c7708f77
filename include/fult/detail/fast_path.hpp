// Spawn and join of a task that no other thread has seen: no atomic instruction, no call into the library.
//
// Both change a private word by a plain store, then load `request_flags` once. A thief that needs private
// work sets `revoked` there and lets membarrier order the two sides (docs/scheduler.md, "Work for others";
// tests/model/revoke.pml). So the owner needs no fence: the compiler barrier below is enough.
#pragma once

#include <bit>
#include <cstddef>

#include <fult/detail/closure.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

FULT_API task *take_slot_slow();                     // throws std::system_error
FULT_API void make_ready_slow(task *t) noexcept;     // makes t runnable
FULT_API void poll_requests(worker_hot *w) noexcept; // handles the request flags after a spawn
// handles the request flags after a claim; true if t was not revoked
FULT_API bool poll_requests_after_claim(worker_hot *w, task *t) noexcept;
FULT_API void release_slot_slow(worker_hot *w, task *t) noexcept; // the slow cases of release_slot
FULT_API void await_completion(task *t) noexcept; // returns with the result in t's storage; may suspend
FULT_API void release_joined(task *t) noexcept;   // frees a slot whose result was taken
FULT_API void detach_task(task *t) noexcept;
FULT_API void abandon_task(task *t) noexcept; // detaches the task of a destroyed handle; may be reported
FULT_API void end_row() noexcept;             // of joins or loops, or the stack is low; may suspend
FULT_API void count_step() noexcept;          // of a loop; each 32nd lets another task run: may suspend
// ends the current inline task if at_end_mask is not clear; may suspend
FULT_API void end_inline_slow(task *t) noexcept;

// Orders the owner's plain store before its load of request_flags for the compiler. The thief orders them for
// the processor.
FULT_ALWAYS_INLINE void owner_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

// A closure that fits into two registers is passed to the slow path by value: nothing of it must outlive that
// call then.
template <class C>
inline constexpr bool fits_in_registers = std::is_trivially_copyable_v<C> && sizeof(C) <= 2 * sizeof(void *);

template <class C, class R> FULT_NOINLINE task *spawn_small_slow(C closure) {
    task *t = take_slot_slow();
    t->ops = &closure_ops<C, R>::table;
    ::new (t->storage) C(closure);
    make_ready_slow(t);
    return t;
}

// Prefetch distance in slots, for many tasks that are spawned or joined in order: a million descriptors are
// in memory, not in a cache. Not a multiple of 32: the loads and stores of neighbours would wait for the
// prefetch, by their low twelve address bits.
inline constexpr std::ptrdiff_t ahead = 80;

// Makes t, a complete task in a private slot of the calling worker w, runnable there.
FULT_ALWAYS_INLINE void make_ready_private(worker_hot *w, task *t) noexcept {
    // release: a thief that reads the byte (revoke) must see what t will run
    ready_byte_at(w, distance_in_slots(w, t))->store(1, std::memory_order_release);
    owner_barrier();
    if (is_set(w->request_flags)) [[unlikely]]
        poll_requests(w);
}

// Spawns a task whose closure is constructed by `emplace` in the given storage. `emplace` must not throw or
// suspend. The closure is constructed only there, and no call takes its address before, so the compiler may
// keep its parts in registers.
template <class C, class R, class Emplace> FULT_ALWAYS_INLINE task *spawn_emplaced(Emplace &&emplace) {
    worker_hot *w = current_worker();
    task *t = w->run.next;
    if (t == w->run.end) [[unlikely]] {
        if constexpr (fits_in_registers<C>) {
            alignas(C) std::byte copy[sizeof(C)];
            emplace(static_cast<void *>(copy));
            return spawn_small_slow<C, R>(*std::launder(reinterpret_cast<C *>(copy)));
        }
        t = take_slot_slow();
        t->ops = &closure_ops<C, R>::table;
        emplace(static_cast<void *>(t->storage));
        make_ready_slow(t);
        return t;
    }
    w->run.next = t + 1;
    w->stack_limit += row_step;
    __builtin_prefetch(t + ahead, 1);
    t->ops = &closure_ops<C, R>::table;
    emplace(static_cast<void *>(t->storage));
    make_ready_private(w, t);
    return t;
}

template <class C, class R> FULT_ALWAYS_INLINE task *spawn_closure(C &&closure) {
    return spawn_emplaced<C, R>([&](void *at) noexcept { ::new (at) C(static_cast<C &&>(closure)); });
}

// Frees a slot. Fast if slots are freed in the reverse order of taking, as for tasks joined by their parents.
FULT_ALWAYS_INLINE void release_slot(worker_hot *w, task *t) noexcept {
    if (t + 1 == w->run.next) [[likely]] // so it is one of w's own
        w->run.next = t;
    else
        release_slot_slow(w, t);
}

// Claims an unstarted private task for its joiner, which must run it. Returns false if the task is not
// private to w, or the stack is too low for it.
FULT_ALWAYS_INLINE bool claim_private(worker_hot *w, task *t) noexcept {
    const std::uintptr_t distance = distance_in_slots(w, t);
    if (distance >= slots_in_home || stack_below(w->stack_limit)) [[unlikely]] // always so on foreign threads
        return false;
    ready_byte *mine = ready_byte_at(w, distance);
    if (!is_set(*mine)) [[unlikely]]
        return false;
    mine->store(0, std::memory_order_relaxed);
    owner_barrier();
    return !is_set(w->request_flags) || poll_requests_after_claim(w, t);
}

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

// Makes t the current task while its closure runs on the joiner's stack, and ends it however the closure
// exits. In between, the stack may have moved to another worker. Stores both task pointers itself: reading
// them back would chain the end of each task to the one before, through memory.
template <class C> class inline_run {
  public:
    FULT_ALWAYS_INLINE explicit inline_run(worker_hot *w, task *t) noexcept : task_(t), outer_(w->current) {
        t->outer = outer_word::above(outer_);
        run_as(w, t);
    }
    FULT_ALWAYS_INLINE ~inline_run() {
        storage_as<C>(*task_).~C();
        if (task_->outer != outer_word::above(outer_)) [[unlikely]] // at_end_mask
            end_inline_slow(task_);
        worker_hot *w = current_worker();
        w->current = outer_; // cached values belonged to the task and ended with it
        release_slot(w, task_);
    }
    inline_run(const inline_run &) = delete;
    inline_run &operator=(const inline_run &) = delete;

  private:
    task *task_;
    task *outer_;
};

template <class R> R take_result(task *t) {
    struct releaser {
        task *t;
        ~releaser() {
            t->ops->drop(*t);
            release_joined(t);
        }
    } release{t};
    if (t->result == result_kind::exception)
        std::rethrow_exception(std::move(storage_as<std::exception_ptr>(*t)));
    return stored_result<R>::take(storage_as<typename stored_result<R>::type>(*t));
}

template <class R> FULT_NOINLINE R join_slow(task *t) {
    await_completion(t);
    return take_result<R>(t);
}

template <class C, class R> FULT_ALWAYS_INLINE R join_closure(task *t) {
    // The worker is read again for the run: kept in a register since the claim, it made spawn + join a
    // twelfth slower.
    if (claim_private(current_worker(), t)) [[likely]] {
        inline_run<C> running(current_worker(), t);
        return std::move(storage_as<C>(*t))();
    }
    return join_slow<R>(t);
}

} // namespace fult::detail
