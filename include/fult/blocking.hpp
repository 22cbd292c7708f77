/// @file
/// Calls that block: they run on a separate kernel thread while the task is suspended, so that its worker can
/// run other tasks.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/this_task.hpp>

namespace fult {

/// @cond internal
namespace detail {

// Calls body(argument), which must not throw, on a thread of the pool; errno is passed back.
FULT_API void run_blocking(void (*body)(void *) noexcept, void *argument);

} // namespace detail
/// @endcond

/// Calls function(arguments...) on a kernel thread that may block, and returns its result or throws its
/// exception; errno is preserved. For system calls and libraries that block: the task is suspended in the
/// meantime, and its worker runs other tasks. There is no current task within the call: it must not use
/// this_task, and what belongs to a kernel thread (thread_local variables, locks of a std::mutex) is that of
/// another thread. The arguments are passed by reference. At most FULT_BLOCKING_THREADS such calls run at a
/// time; further ones queue in order. If the first calls wait for a later one, that limit must be high
/// enough; after ten seconds a line on standard error reports this. On a foreign thread: a plain call. Throws
/// std::system_error if no thread can be started (nothing has been called then).
template <class F, class... A>
requires std::invocable<F, A...> std::invoke_result_t<F, A...> run_blocking(F &&function, A &&...arguments) {
    using result = std::invoke_result_t<F, A...>;
    if (!in_task())
        return std::invoke(std::forward<F>(function), std::forward<A>(arguments)...);
    using stored = detail::stored_result<result>;
    std::optional<typename stored::type> value;
    std::exception_ptr error;
    const auto call = [&]() -> result {
        return std::invoke(std::forward<F>(function), std::forward<A>(arguments)...);
    };
    auto body = [&]() noexcept {
        FULT_TRY { value.emplace(stored::from(call)); }
        FULT_CATCH_ALL { error = std::current_exception(); }
    };
    detail::run_blocking([](void *b) noexcept { (*static_cast<decltype(body) *>(b))(); }, &body);
    if (error)
        std::rethrow_exception(std::move(error));
    return stored::take(*value);
}

} // namespace fult
