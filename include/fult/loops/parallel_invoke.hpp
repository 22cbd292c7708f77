/// @file
/// Calls of a few different functions at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/loops/parts.hpp>
#include <fult/loops/run_loop.hpp>

namespace fult {
/// @cond internal
namespace detail {

template <class Function> void invoke_guarded(loop_errors &errors, Function &function) noexcept {
    if (errors.stopped())
        return;
    FULT_TRY { (void)std::invoke(function); }
    FULT_CATCH_ALL { errors.fail(); }
}

template <class First> void invoke_all(loop_errors &errors, First &first) noexcept {
    invoke_guarded(errors, first);
}

// Spawns the rest as a task and calls the first function here.
template <class First, class... Rest>
void invoke_all(loop_errors &errors, First &first, Rest &...rest) noexcept {
    struct call {
        loop_errors *errors;
        std::tuple<Rest &...> functions;
        void operator()() const {
            std::apply([this](Rest &...each) { invoke_all(*errors, each...); }, functions);
        }
    };
    const call others{&errors, {rest...}};
    decltype(spawn(others)) task;
    FULT_TRY { task = spawn(others); }
    FULT_CATCH_ALL { // no slot: call all of them here
    }
    invoke_guarded(errors, first);
    if (!task.valid())
        return others();
    FULT_TRY { task.join(); }
    FULT_CATCH_ALL { // the function does not throw, but allocating its box may
        errors.fail();
    }
}

} // namespace detail
/// @endcond

/// Calls each function once, several at a time, and returns when all have ended. Return values are dropped;
/// the functions are not copied. If a function throws, functions that have not begun are not called, and the
/// first exception is rethrown here after the running ones have ended. On a task: may suspend. On a foreign
/// thread: blocks. Throws what spawn throws if no runtime is running.
template <class... Functions>
requires(sizeof...(Functions) > 0) &&
    (std::invocable<Functions &> && ...) void parallel_invoke(Functions &&...functions) {
    detail::run_as_task([&] {
        detail::loop_errors errors;
        detail::invoke_all(errors, functions...);
        errors.rethrow();
    });
}

} // namespace fult
