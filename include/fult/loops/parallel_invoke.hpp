// A few different things at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#include <fult/loops/parts.hpp>
#include <fult/loops/run_loop.hpp>

namespace fult {
namespace detail {

template <class Function> void invoke_guarded(loop_errors &errors, Function &function) noexcept {
    if (errors.stopped())
        return;
    try {
        (void)std::invoke(function);
    } catch (...) {
        errors.fail();
    }
}

template <class First> void invoke_all(loop_errors &errors, First &first) noexcept {
    invoke_guarded(errors, first);
}

// The rest as a task for others, the first one here.
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
    try {
        task = spawn(others);
    } catch (...) { // no slot: all of it here
    }
    invoke_guarded(errors, first);
    if (!task.valid())
        return others();
    try {
        task.join();
    } catch (...) { // its function does not throw, but its storage may be a box
        errors.fail();
    }
}

} // namespace detail

// Calls each function once, several at a time, and returns when all have ended; what they return is dropped.
// They are not copied. The first exception is rethrown here, when what had begun has ended; a function that
// had not begun then is not called. From a task (may suspend it) or a foreign thread (blocks it). Throws what
// spawn throws where no runtime runs.
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
