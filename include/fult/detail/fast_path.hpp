// Spawn and join of a task that no other thread has seen: no atomic instruction, no call into the library.
#pragma once

#include <fult/detail/closure.hpp>
#include <fult/detail/kernel.hpp>

namespace fult::detail {

FULT_API void await_completion(task *t) noexcept; // returns with the result in t's storage; may suspend
FULT_API void release_joined(task *t) noexcept;   // frees a slot whose result was taken
FULT_API void detach_task(task *t) noexcept;
FULT_API void abandon_task(task *t) noexcept; // detaches the task of a destroyed handle; may be reported
FULT_API void end_row() noexcept;             // of joins or loops, or the stack is low; may suspend
FULT_API void count_step() noexcept;          // of a loop; each 32nd lets another task run: may suspend

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

// Spawns a task whose closure is constructed by `emplace` in the given storage. `emplace` must not throw or
// suspend. The closure is constructed only there, and no call takes its address before, so the compiler may
// keep its parts in registers.
template <class C, class R, class Emplace> FULT_ALWAYS_INLINE task *spawn_emplaced(Emplace &&emplace) {
    worker_hot *w = current_worker();
    if (!has_private_slot(w)) [[unlikely]] {
        if constexpr (fits_in_registers<C>) {
            alignas(C) std::byte copy[sizeof(C)];
            emplace(static_cast<void *>(copy));
            return spawn_small_slow<C, R>(*std::launder(reinterpret_cast<C *>(copy)));
        }
        task *const t = take_slot_slow();
        t->ops = &closure_ops<C, R>::table;
        emplace(static_cast<void *>(t->storage));
        make_ready_slow(t);
        return t;
    }
    task *const t = take_private_slot(w);
    count_in_row(w);
    t->ops = &closure_ops<C, R>::table;
    emplace(static_cast<void *>(t->storage));
    make_ready_private(w, t);
    return t;
}

template <class C, class R> FULT_ALWAYS_INLINE task *spawn_closure(C &&closure) {
    return spawn_emplaced<C, R>([&](void *at) noexcept { ::new (at) C(static_cast<C &&>(closure)); });
}

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

// Destroys the closure of a task when its run ends.
template <class C> struct closure_end {
    task *t;
    FULT_ALWAYS_INLINE ~closure_end() { storage_as<C>(*t).~C(); }
};

template <class C, class R> FULT_ALWAYS_INLINE R join_closure(task *t) {
    // The worker is read again for the run: kept in a register since the claim, it made spawn + join a
    // twelfth slower.
    if (claim_private(current_worker(), t)) [[likely]] {
        run_above<slot_after::free> run(current_worker(), t);
        closure_end<C> end{t};
        return std::move(storage_as<C>(*t))();
    }
    return join_slow<R>(t);
}

} // namespace fult::detail
