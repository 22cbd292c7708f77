/// @file
/// Structured concurrency: tasks that end together.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fult/detail/group.hpp>
#include <fult/spawn.hpp>

namespace fult {
/// @cond internal
namespace detail {

template <class F, class... A>
inline constexpr bool invocable_in_group =
    std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> ||
    std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<A>...>;

// Inline if it fits into a descriptor, else in a box.
template <class F, class... A>
FULT_ALWAYS_INLINE auto make_group_closure(group_core &group, F &&function, A &&...arguments) {
    using call = group_call<std::decay_t<F>, std::decay_t<A>...>;
    auto build = [&]() -> call {
        return {&group, std::forward<F>(function), {std::forward<A>(arguments)...}};
    };
    if constexpr (fits_in_descriptor<call>)
        return build();
    else
        return boxed_closure<call>{std::unique_ptr<call>(new call(build()))};
}

} // namespace detail
/// @endcond

/// Tasks that are waited for together; the first exception stops the rest. Tasks of the group may spawn into
/// it, create groups of their own and suspend; their return values are dropped.
///
/// Stopping is cooperative. A callable whose first parameter is a std::stop_token gets that of the group, to
/// check it and to pass it to waits (fult/sync.hpp, this_task::wait). A callable that has not begun when the
/// stop is requested is not called, only destroyed.
///
/// While a wait runs, only tasks of the group may spawn into it. The group must outlive its tasks; its
/// destructor waits for them. For the task that created the group, spawning costs no more than fult::spawn;
/// other spawners share one counter.
class FULT_API task_group {
  public:
    /// An empty group. From a task or a foreign thread; does not suspend.
    task_group() noexcept {}
    /// The same; a stop request to `parent` also stops this group. Throws std::bad_alloc.
    explicit task_group(std::stop_token parent);
    /// Waits for all tasks, as wait does. During stack unwinding, the tasks are stopped first and their
    /// exceptions dropped. Otherwise an exception that no wait has rethrown ends the program with a message,
    /// as that of a detached task does.
    ~task_group();
    task_group(const task_group &) = delete;
    task_group &operator=(const task_group &) = delete;

    /// Starts a task of the group that runs function(arguments...), or function(stop_token, arguments...) if
    /// that is callable; the task decays and owns all of them. From any thread; does not suspend. Throws what
    /// fult::spawn throws; nothing has been spawned then.
    template <class F, class... A>
    requires detail::invocable_in_group<F, A...> FULT_ALWAYS_INLINE void spawn(F &&function,
                                                                               A &&...arguments) {
        core_.spawn(
            detail::make_group_closure(core_, std::forward<F>(function), std::forward<A>(arguments)...));
    }
    /// @cond internal
    template <class F, class... A>
    requires(!detail::invocable_in_group<F, A...> &&
             !std::same_as<std::remove_cvref_t<F>, spawn_options>) void spawn(F &&, A &&...) {
        detail::not_spawnable<F>();
    }
    /// @endcond
    /// The same with options.
    template <class F, class... A>
    requires detail::invocable_in_group<F, A...>
    void spawn(const spawn_options &options, F &&function, A &&...arguments) {
        auto closure =
            detail::make_group_closure(core_, std::forward<F>(function), std::forward<A>(arguments)...);
        core_.spawn_with(detail::take_slot_with(options), std::move(closure));
    }

    /// Waits until all tasks of the group have ended, with one wake-up; then rethrows the first exception of
    /// a task. Afterwards the group can be used again: it is not stopped, unless its parent is. On a task:
    /// suspends; runs tasks inline that no other worker has claimed. On a foreign thread: blocks. One call at
    /// a time, and not from a task of the group.
    void wait();

    /// Requests a stop of the tasks. From any thread; does not suspend. Calls the std::stop_callbacks
    /// registered with the token; these must not suspend.
    void request_stop() noexcept { core_.request_stop(); }
    /// True if a stop was requested, by a call, an exception or the parent. From any thread; does not
    /// suspend.
    [[nodiscard]] bool stop_requested() const noexcept { return core_.is_stopped(); }
    /// The stop token of the group, valid until the next wait returns. From any thread; does not suspend.
    /// Throws std::bad_alloc.
    std::stop_token get_stop_token() { return core_.token(); }

  private:
    struct stopper {
        detail::group_core *core;
        void operator()() const noexcept { core->request_stop(); }
    };

    detail::group_core core_;
    const std::stop_token parent_;
    std::optional<std::stop_callback<stopper>> on_parent_stop_;
};

} // namespace fult
