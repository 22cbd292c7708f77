// A callable and its result inside a descriptor: stored inline if they fit, else in a box on the heap.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

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

} // namespace fult::detail
