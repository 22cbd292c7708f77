/// @file
/// Joining several tasks, with their results; waiting for all or for the first of several tasks.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <ranges>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fult/detail/exceptions.hpp>
#include <fult/handle.hpp>

namespace fult {
/// @cond internal
namespace detail {
template <class H> inline constexpr bool is_handle = std::is_base_of_v<task_owner, std::remove_cvref_t<H>>;
template <class H>
inline constexpr bool has_result = !std::is_void_v<typename std::remove_cvref_t<H>::value_type>;

// The type of a result among others: void becomes std::monostate, T & stays a reference.
template <class R> using among_results = std::conditional_t<std::is_void_v<R>, std::monostate, R>;
template <class R>
using in_vector =
    std::conditional_t<std::is_reference_v<R>, std::reference_wrapper<std::remove_reference_t<R>>, R>;

// The result of a task that is still to be joined.
template <class R> class joined {
  public:
    template <class H> void take(H &handle) {
        if constexpr (std::is_void_v<R>)
            handle.join();
        else
            value_.emplace(handle.join());
    }
    among_results<R> result() {
        if constexpr (std::is_void_v<R>)
            return {};
        else if constexpr (std::is_reference_v<R>)
            return value_->get();
        else
            return std::move(*value_);
    }

  private:
    std::optional<in_vector<among_results<R>>> value_;
};

// Joins every handle, even if one throws; rethrow throws the first exception in order.
class first_exception {
  public:
    template <class Call> void keep_from(Call &&call) {
        FULT_TRY { call(); }
        FULT_CATCH_ALL {
            if (!error_)
                error_ = std::current_exception();
        }
    }
    template <class H> void join(H &handle) {
        keep_from([&handle] { (void)handle.join(); });
    }
    void rethrow() {
        if (error_)
            std::rethrow_exception(std::move(error_));
    }

  private:
    std::exception_ptr error_;
};

template <class Range> std::size_t first_of_range(const Range &handles, const std::stop_token *stop) {
    std::vector<task *> tasks;
    for (const auto &each : handles)
        tasks.push_back(handle_access::get(each));
    return await_any(tasks.data(), tasks.size(), stop);
}

template <class... H> std::size_t first_of_these(const std::stop_token *stop, const H &...handles) {
    task *const tasks[] = {handle_access::get(handles)...};
    return await_any(tasks, sizeof...(H), stop);
}
} // namespace detail
/// @endcond

/// A range of handles of one type.
template <class R>
concept handle_range = std::ranges::input_range<R> &&
    std::is_base_of_v<detail::task_owner, std::remove_cvref_t<std::ranges::range_reference_t<R>>>;

/// Does for each handle what its wait() does, with one wake-up: the results stay in the tasks, and join
/// returns each at once. Empty handles are ignored. On a task: suspends. On a foreign thread: blocks.
/// (comm::wait_all does so for requests, whose wait() takes the result.)
template <handle_range Range> void wait_all(const Range &handles) {
    std::vector<detail::task *> tasks;
    if constexpr (std::ranges::sized_range<Range>)
        tasks.reserve(std::ranges::size(handles));
    for (const auto &each : handles)
        if (each.valid())
            tasks.push_back(detail::handle_access::get(each));
    if (!tasks.empty()) // spelled out: gcc takes the memory of none for uninitialized elements, and warns
        detail::await_all(tasks.data(), tasks.size());
}

/// The same for individual handles, which may be of different types.
template <class... H>
requires(detail::is_handle<H> &&...) void wait_all(const H &...handles) {
    detail::task *tasks[sizeof...(H) + 1];
    std::size_t count = 0;
    ((handles.valid() ? void(tasks[count++] = detail::handle_access::get(handles)) : void()), ...);
    detail::await_all(tasks, count);
}

/// Joins all tasks with one wake-up and returns their results in order, as a std::tuple; a task without a
/// result yields a std::monostate; nothing if no task has a result. All are joined even if some throw; the
/// first exception in the order of the handles is rethrown. On a task: suspends. On a foreign thread: blocks.
/// Ends the program if a handle owns no task, as join does.
template <class... H>
requires(detail::is_handle<H> &&...) auto join_all(H &&...handles) {
    wait_all(handles...);
    detail::first_exception errors;
    if constexpr ((detail::has_result<H> || ...)) {
        std::tuple<detail::joined<typename std::remove_cvref_t<H>::value_type>...> results;
        std::apply([&](auto &...result) { (errors.keep_from([&] { result.take(handles); }), ...); }, results);
        errors.rethrow();
        return std::apply(
            [](auto &...result) {
                return std::tuple<detail::among_results<typename std::remove_cvref_t<H>::value_type>...>(
                    result.result()...);
            },
            results);
    } else {
        (errors.join(handles), ...);
        errors.rethrow();
    }
}

/// The same for a range of handles: returns a std::vector of results, of std::reference_wrapper for
/// references, nothing if the tasks have no results.
template <handle_range Range>
requires std::ranges::forward_range<Range>
auto join_all(Range &&handles) {
    using result = typename std::ranges::range_value_t<Range>::value_type;
    wait_all(handles);
    detail::first_exception errors;
    if constexpr (std::is_void_v<result>) {
        for (auto &each : handles)
            errors.join(each);
        errors.rethrow();
    } else {
        std::vector<detail::in_vector<result>> results;
        if constexpr (std::ranges::sized_range<Range>)
            results.reserve(std::ranges::size(handles));
        for (auto &each : handles)
            errors.keep_from([&] { results.push_back(each.join()); });
        errors.rethrow();
        return results;
    }
}

/// Waits until one of the tasks has ended and returns its index, the lowest if there are several. All handles
/// remain valid: join that one for its result, which returns at once. Empty handles are ignored; if all are
/// empty, the number of handles is returned. No task is run inline: an unstarted child goes through the
/// scheduler. On a task: suspends. On a foreign thread: blocks. No other thread may join one of the tasks
/// during the wait.
template <class... H>
requires(sizeof...(H) > 0) && (detail::is_handle<H> && ...) std::size_t wait_any(const H &...handles) {
    return detail::first_of_these(nullptr, handles...);
}

/// The same for a range of handles.
template <handle_range Range> std::size_t wait_any(const Range &handles) {
    return detail::first_of_range(handles, nullptr);
}

/// The same, until a stop is requested: then the number of handles is returned, unless a task has ended.
/// Throws std::bad_alloc.
template <class... H>
requires(sizeof...(H) > 0) && (detail::is_handle<H> && ...) std::size_t
    wait_any(const std::stop_token &stop, const H &...handles) {
    return detail::first_of_these(&stop, handles...);
}

/// The same for a range of handles.
template <handle_range Range> std::size_t wait_any(const std::stop_token &stop, const Range &handles) {
    return detail::first_of_range(handles, &stop);
}

} // namespace fult
