// Spawn and join of a task that nobody else has seen: no atomic instruction, no call into the library.
//
// Both change a private word by a plain store, then look at `attention` once. A thief that wants private work
// sets `revoked` there and lets membarrier order the two sides (scheduler.md, "No hidden work";
// tests/model/revoke.pml), so the owner needs no fence: the compiler barrier below is all.
#pragma once

#include <bit>
#include <cstddef>

#include <fult/detail/closure.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

FULT_API task *take_slot_slow();                 // throws std::system_error
FULT_API void make_ready_slow(task *t) noexcept; // t may run from now on
FULT_API void attend(worker_hot *w) noexcept;    // answers attention after a spawn
FULT_API bool attend_claim(worker_hot *w,
                           task *t) noexcept; // answers it after a claim; whether t is still ours
FULT_API void release_slot_slow(worker_hot *w, task *t) noexcept; // the slow cases of release_slot
FULT_API void await_completion(task *t) noexcept; // returns with the outcome in t's storage; may suspend
FULT_API void release_joined(task *t) noexcept;   // frees a slot whose outcome was taken
FULT_API void detach_task(task *t) noexcept;
FULT_API void abandon_task(task *t) noexcept; // the same for a handle that is destroyed: may be reported
FULT_API void
end_inline_slow(task *t) noexcept; // of the current task, with something in at_end_mask; may suspend

// Orders the owner's plain store before its load of attention for the compiler; the processor is ordered by
// the thief.
FULT_ALWAYS_INLINE void owner_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

// A closure that fits into two registers is handed to the slow path by value: nothing of it must outlive that
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

// Descriptors that come next where many tasks are spawned or joined in order are asked for so many slots
// before: a million of them lie in memory, not in a cache. No multiple of 32: the loads and stores of
// neighbours would wait for the prefetch, by their low twelve bits.
inline constexpr std::ptrdiff_t ahead = 80;

// Spawns a task whose closure `emplace` constructs in the storage that it is given; it must not throw or
// suspend. The closure is built there and nowhere else: no call takes its address before, so the compiler is
// free to keep its parts in registers.
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
    __builtin_prefetch(t + ahead, 1);
    t->ops = &closure_ops<C, R>::table;
    emplace(static_cast<void *>(t->storage));
    // release: a thief that reads the byte (revoke) must see the closure
    ready_byte_at(w, distance_in_slots(w, t))->store(1, std::memory_order_release);
    owner_barrier();
    if (is_set(w->attention)) [[unlikely]]
        attend(w);
    return t;
}

template <class C, class R> FULT_ALWAYS_INLINE task *spawn_closure(C &&closure) {
    return spawn_emplaced<C, R>([&](void *at) noexcept { ::new (at) C(static_cast<C &&>(closure)); });
}

// Gives a slot back in the order opposite to that of taking, as tasks joined by their parents do; else the
// slow way.
FULT_ALWAYS_INLINE void release_slot(worker_hot *w, task *t) noexcept {
    if (t + 1 == w->run.next) [[likely]] // so it is one of w's own
        w->run.next = t;
    else
        release_slot_slow(w, t);
}

// Takes an unstarted private task back for its joiner, which is to run it. False: it is not ours, or the
// stack is too low for it.
FULT_ALWAYS_INLINE bool claim_private(worker_hot *w, task *t) noexcept {
    const std::uintptr_t distance = distance_in_slots(w, t);
    if (distance >= slots_in_home || stack_below(w->stack_limit)) [[unlikely]] // always so on foreign threads
        return false;
    ready_byte *mine = ready_byte_at(w, distance);
    if (!is_set(*mine)) [[unlikely]]
        return false;
    w->stack_limit += join_step;
    mine->store(0, std::memory_order_relaxed);
    owner_barrier();
    return !is_set(w->attention) || attend_claim(w, t);
}

// Tells the calling thread's known_locals, or null, of the task that w runs there from here on. The worker
// has it, too: with its other fields at hand it is looked at in one instruction.
FULT_ALWAYS_INLINE void know_locals(worker_hot *w, const local_values *values) noexcept {
    w->known = values;
    set_known_locals(values ? values : &no_locals);
}
FULT_ALWAYS_INLINE void forget_locals(worker_hot *w) noexcept {
    if (w->known) [[unlikely]]
        know_locals(w, nullptr);
}

// From here on t, or none, runs on the calling thread. Its locals are not known until it asks: to look at its
// descriptor's other line would cost every task.
FULT_ALWAYS_INLINE void run_as(worker_hot *w, task *t) noexcept {
    w->current = t;
    forget_locals(w);
}

// Makes t the current task while its closure runs on the joiner's stack, and ends it however the closure is
// left. In between the stack may have moved to another worker. Remembers both tasks by itself: to read them
// back would chain each task's end to the one before, through memory.
template <class C> class inline_run {
  public:
    FULT_ALWAYS_INLINE explicit inline_run(worker_hot *w, task *t) noexcept : task_(t), outer_(w->current) {
        t->outer = outer_;
        run_as(w, t);
    }
    FULT_ALWAYS_INLINE ~inline_run() {
        storage_as<C>(*task_).~C();
        if (task_->outer != outer_) [[unlikely]] // at_end_mask
            end_inline_slow(task_);
        worker_hot *w = current_worker();
        w->current = outer_; // what is known of locals was the task's own, and ended with them
        release_slot(w, task_);
    }
    inline_run(const inline_run &) = delete;
    inline_run &operator=(const inline_run &) = delete;

  private:
    task *task_;
    task *outer_;
};

template <class R> R take_outcome(task *t) {
    struct releaser {
        task *t;
        ~releaser() {
            t->ops->drop(*t);
            release_joined(t);
        }
    } release{t};
    if (t->result == outcome::exception)
        std::rethrow_exception(std::move(storage_as<std::exception_ptr>(*t)));
    return stored_result<R>::take(storage_as<typename stored_result<R>::type>(*t));
}

template <class R> FULT_NOINLINE R join_slow(task *t) {
    await_completion(t);
    return take_outcome<R>(t);
}

template <class C, class R> FULT_ALWAYS_INLINE R join_closure(task *t) {
    // The worker is read anew for the run: kept in a register from the claim on, it made spawn + join a
    // twelfth dearer.
    if (claim_private(current_worker(), t)) [[likely]] {
        inline_run<C> running(current_worker(), t);
        return std::move(storage_as<C>(*t))();
    }
    return join_slow<R>(t);
}

} // namespace fult::detail
