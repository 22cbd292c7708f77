// Structured concurrency: tasks that end together.
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
namespace detail {

template <class F, class... A>
inline constexpr bool invocable_in_group =
    std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> ||
    std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<A>...>;

// In place where it fits into a descriptor, else in a box.
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

// Tasks that are waited for together, of which the first exception stops the rest. Tasks of the group may
// spawn into it, make groups of their own and suspend as they like; what they return is dropped.
//
// Stopping is cooperative: a callable that takes a std::stop_token first gets the group's, for its own looks
// and for the waits that take one (fult/sync.hpp, this_task::wait); a callable that has not begun when the
// stop is requested is not called any more, only destroyed.
//
// While a wait runs, nothing but tasks of the group may spawn into it. It must outlive its tasks, which its
// destructor sees to. Spawning costs no more than fult::spawn for the task that made the group; other
// spawners meet on one counter.
class FULT_API task_group {
  public:
    // An empty one. From a task or a foreign thread; does not suspend.
    task_group() noexcept {}
    // The same; a stop request to `parent` is one to this group too. Throws std::bad_alloc.
    explicit task_group(std::stop_token parent);
    // Waits for all, as wait does. Where an exception is on its way through here, the tasks are stopped first
    // and their own exceptions dropped; else an exception that no wait has rethrown ends the program with a
    // message, as that of a detached task does.
    ~task_group();
    task_group(const task_group &) = delete;
    task_group &operator=(const task_group &) = delete;

    // Starts a task of the group that runs function(arguments...), or function(stop_token, arguments...)
    // where it can be called so; all decayed and owned by the task. From any thread; does not suspend. Throws
    // what fult::spawn throws; nothing has been spawned then.
    template <class F, class... A>
    requires detail::invocable_in_group<F, A...> FULT_ALWAYS_INLINE void spawn(F &&function,
                                                                               A &&...arguments) {
        core_.spawn(
            detail::make_group_closure(core_, std::forward<F>(function), std::forward<A>(arguments)...));
    }
    // The same with options.
    template <class F, class... A>
    requires detail::invocable_in_group<F, A...>
    void spawn(const spawn_options &options, F &&function, A &&...arguments) {
        auto closure =
            detail::make_group_closure(core_, std::forward<F>(function), std::forward<A>(arguments)...);
        core_.spawn_with(detail::take_slot_with(options), std::move(closure));
    }

    // Waits until all tasks of the group have ended, with one wake-up; then rethrows the first exception that
    // left one of them. Afterwards the group is as new: not stopped, unless its parent is. From a task
    // (suspends it; where nobody else wanted a task yet, runs it right here) or a foreign thread (blocks it);
    // one at a time, and not from a task of the group.
    void wait();

    // Asks the tasks to stop. From any thread; does not suspend. Calls what std::stop_callbacks of the token
    // registered; these must not suspend.
    void request_stop() noexcept { core_.request_stop(); }
    // Whether a stop was requested, by a call, an exception or the parent. From any thread; does not suspend.
    bool stop_requested() const noexcept { return core_.is_stopped(); }
    // The token that tells of it, until the group begins anew. From any thread; does not suspend. Throws
    // std::bad_alloc.
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
