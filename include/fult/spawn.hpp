/// @file
/// Spawning tasks.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fult/detail/mistake.hpp>
#include <fult/handle.hpp>
#include <fult/task_local.hpp>

namespace fult {

/// Options of a task.
struct spawn_options {
    std::string_view name{};     ///< shown in reports; copied
    std::size_t stack_size = 0;  ///< bytes; 0: FULT_STACK_SIZE
    int worker = -1;             ///< its home; -1: the spawning worker
    bool pinned = false;         ///< runs on its home worker only
    bool inherit_locals = false; ///< copies the spawner's task-local values whose keys allow it
    /// Task-local values of its own, one for a key: {key.make_value(value), ...}.
    std::vector<local_value> locals{};
};

/// @cond internal
namespace detail {
FULT_API task *take_slot_with(const spawn_options &options); // throws std::system_error, std::out_of_range

// What a task can run: the function, called with its own copies of the arguments.
template <class F, class... A>
concept spawnable = std::invocable<std::decay_t<F>, std::decay_t<A>...>;

// Where that is not so.
template <class F> handle<void> not_spawnable() {
    static_assert(mistake<F>,
                  "fult::spawn: the function cannot be called with these arguments. The task owns copies of "
                  "all of them, as std::thread does: pass a reference as std::ref(x), or let a lambda "
                  "capture it");
    return {};
}

template <class C, class R> handle<R> spawn_closure_with(const spawn_options &options, C &&closure) {
    task *t = take_slot_with(options);
    t->ops = &closure_ops<C, R>::table;
    ::new (t->storage) C(static_cast<C &&>(closure));
    make_ready_slow(t);
    return handle<R>(t);
}
} // namespace detail
/// @endcond

/// Starts a task that runs function(arguments...); the task decays and owns all of them, as std::thread does.
/// Its result or exception is passed to join. The task belongs to this worker until an idle worker steals it.
/// From any thread. Throws std::system_error if memory or slots run out (nothing has been spawned then), and
/// std::logic_error if no runtime is running. Does not suspend, with one exception: on a task, if a quarter
/// of the worker's slots is taken (2M of FULT_MAX_TASKS), it lets other tasks run on every 63rd call, and at
/// the limit until a slot is free, before it throws. A task that holds a std::mutex or a spinlock must
/// therefore spawn fewer. The returned handle detaches when it is destroyed. Source: one bit per task is from
/// section 4.2.1 of Dang's dissertation, where all bits are public (docs/scheduler.md).
template <class F, class... A>
requires detail::spawnable<F, A...>
[[nodiscard("the handle detaches the task here: join it, keep it, or call detach()")]] FULT_ALWAYS_INLINE auto
spawn(F &&function, A &&...arguments) {
    using result = detail::spawn_result_t<F, A...>;
    using plain = std::decay_t<F>;
    if constexpr (sizeof...(A) == 0 && detail::fits_in_descriptor<plain> &&
                  std::is_nothrow_constructible_v<plain, F>) {
        return spawned<plain, result>(detail::spawn_emplaced<plain, result>(
            [&](void *at) noexcept { ::new (at) plain(std::forward<F>(function)); }));
    } else {
        auto closure = detail::make_closure(std::forward<F>(function), std::forward<A>(arguments)...);
        using call = decltype(closure);
        return spawned<call, result>(detail::spawn_closure<call, result>(std::move(closure)));
    }
}

/// As above, with options. Also throws std::out_of_range for a worker that does not exist, and
/// std::invalid_argument for a stack above 1 GiB, for locals with two values of a key, or if a foreign thread
/// pins a task without a worker. The values of locals remain the caller's if it throws.
template <class F, class... A>
requires detail::spawnable<F, A...>
[[nodiscard("the handle detaches the task here: join it, keep it, or call detach()")]] auto
spawn(const spawn_options &options, F &&function, A &&...arguments) {
    using result = detail::spawn_result_t<F, A...>;
    auto closure = detail::make_closure(std::forward<F>(function), std::forward<A>(arguments)...);
    return detail::spawn_closure_with<decltype(closure), result>(options, std::move(closure));
}

/// @cond internal
template <class F, class... A>
requires(!detail::spawnable<F, A...> &&
         !std::same_as<std::remove_cvref_t<F>, spawn_options>) auto spawn(F &&, A &&...) {
    return detail::not_spawnable<F>();
}
template <class F, class... A>
requires(!detail::spawnable<F, A...>) auto spawn(const spawn_options &, F &&, A &&...) {
    return detail::not_spawnable<F>();
}
/// @endcond

/// Spawns the task on a worker, as spawn_options::worker; others may steal it. From any thread; suspends only
/// at the limit, as above. Errors as above.
template <class F, class... A>
[[nodiscard("the handle detaches the task here: join it, keep it, or call detach()")]] auto
spawn_on(int worker, F &&function, A &&...arguments) {
    return spawn(spawn_options{.worker = worker}, std::forward<F>(function), std::forward<A>(arguments)...);
}

/// Spawns the task on a worker, as spawn_options::worker, pinned to it: it starts on the stack of the
/// worker's thread if no other task is there. From any thread; suspends only at the limit, as above. Errors
/// as above.
template <class F, class... A>
[[nodiscard("the handle detaches the task here: join it, keep it, or call detach()")]] auto
spawn_pinned(int worker, F &&function, A &&...arguments) {
    return spawn(spawn_options{.worker = worker, .pinned = true}, std::forward<F>(function),
                 std::forward<A>(arguments)...);
}

} // namespace fult
