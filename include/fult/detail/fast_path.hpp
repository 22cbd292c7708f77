// Spawn and join of a task that no other thread has seen: no atomic instruction, no call into the library. A
// callable and its result are inside the descriptor: stored inline if they fit, else in a box on the heap.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/kernel.hpp>

namespace fult::detail {

// The callable and its result ------------------------------------------------------------------------------------

// Only types that move without throwing are stored inline: nothing may fail between taking a slot and filling
// it.
template <class T>
inline constexpr bool fits_in_descriptor = sizeof(T) <= inline_storage &&
                                           alignof(T) <= 16 && std::is_nothrow_move_constructible_v<T>;

template <class C> struct boxed_closure {
    std::unique_ptr<C> callable;
    decltype(auto) operator()() { return std::move(*callable)(); }
};

// What spawn(f, args...) runs: all arguments are decayed and owned, and invoked once as rvalues, as
// std::thread does.
template <class F, class... A> struct bound_call {
    F function;
    std::tuple<A...> arguments;
    decltype(auto) operator()() && { return std::apply(std::move(function), std::move(arguments)); }
};

template <class F, class... A> auto make_closure(F &&function, A &&...arguments) {
    using call = std::conditional_t<sizeof...(A) == 0, std::decay_t<F>,
                                    bound_call<std::decay_t<F>, std::decay_t<A>...>>;
    auto build = [&]() -> call {
        if constexpr (sizeof...(A) == 0)
            return call(std::forward<F>(function));
        else
            return call{std::forward<F>(function), {std::forward<A>(arguments)...}};
    };
    if constexpr (fits_in_descriptor<call>)
        return build();
    else
        return boxed_closure<call>{std::unique_ptr<call>(new call(build()))};
}

// The value type of a handle: what f returns; an rvalue reference becomes a value.
template <class F, class... A> struct spawn_result {
    using returned = std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>;
    using type =
        std::conditional_t<std::is_rvalue_reference_v<returned>, std::remove_reference_t<returned>, returned>;
};
template <class F, class... A> using spawn_result_t = typename spawn_result<F, A...>::type;

// How a result of type R is stored until it is joined.
template <class R> struct stored_result {
    static constexpr bool in_place = fits_in_descriptor<R>;
    using type = std::conditional_t<in_place, R, std::unique_ptr<R>>;
    template <class C> static type from(C &closure) {
        if constexpr (in_place)
            return std::move(closure)();
        else
            return std::unique_ptr<R>(new R(std::move(closure)()));
    }
    static R take(type &value) {
        if constexpr (in_place)
            return std::move(value);
        else
            return std::move(*value);
    }
};
template <class R> struct stored_result<R &> {
    using type = R *;
    template <class C> static type from(C &closure) { return std::addressof(std::move(closure)()); }
    static R &take(type &value) { return *value; }
};
struct nothing {};
template <> struct stored_result<void> {
    using type = nothing;
    template <class C> static type from(C &closure) {
        std::move(closure)();
        return {};
    }
    static void take(type &) {}
};

// The operations of a descriptor for the closure type C with the result type R.
template <class C, class R> struct closure_ops {
    using stored = typename stored_result<R>::type;

    static void run(task &t) noexcept {
        C &closure = storage_as<C>(t);
        FULT_TRY {
            stored value = stored_result<R>::from(closure);
            closure.~C();
            ::new (t.storage) stored(std::move(value));
            t.result = result_kind::value;
        }
        FULT_CATCH_ALL {
            std::exception_ptr error = std::current_exception();
            closure.~C();
            ::new (t.storage) std::exception_ptr(std::move(error));
            t.result = result_kind::exception;
        }
    }

    static void drop(task &t) noexcept {
        if (t.result == result_kind::value)
            storage_as<stored>(t).~stored();
        else if (t.result == result_kind::exception)
            storage_as<std::exception_ptr>(t).~exception_ptr();
        t.result = result_kind::none;
    }

    static constexpr task_ops table{&run, &drop};
};

// Spawn and join -------------------------------------------------------------------------------------------------

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
