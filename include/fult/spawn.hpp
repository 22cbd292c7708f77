// Spawning: a callable becomes a task.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string_view>

#include <fult/handle.hpp>
#include <fult/task_local.hpp>

namespace fult {

// What may be asked for a task beyond its callable.
struct spawn_options {
    std::string_view name{};     // shown in reports; copied
    std::size_t stack_size = 0;  // bytes; 0: FULT_STACK_SIZE
    int worker = -1;             // its home; -1: where it is spawned
    bool pinned = false;         // runs on its home worker only
    bool inherit_locals = false; // copies the spawner's task-local values, where their keys can
    std::initializer_list<local_value> locals{}; // values of its own: {key.with(value), ...}
};

namespace detail {
FULT_API task *take_slot_with(const spawn_options &options); // throws std::system_error, std::out_of_range

// For spawn_options; one that is no int is no worker either.
inline int worker_number(unsigned worker) noexcept {
    constexpr int most = std::numeric_limits<int>::max();
    return worker < static_cast<unsigned>(most) ? static_cast<int>(worker) : most;
}

template <class C, class R> handle<R> spawn_closure_with(const spawn_options &options, C &&closure) {
    task *t = take_slot_with(options);
    t->ops = &closure_ops<C, R>::table;
    ::new (t->storage) C(static_cast<C &&>(closure));
    make_ready_slow(t);
    return handle<R>(t);
}
} // namespace detail

// Starts a task that runs function(arguments...), all decayed and owned by the task as std::thread does; its
// result or exception reaches who joins. The task belongs to this worker until an idle one steals it. From
// any thread. Throws std::system_error where memory or slots run out (nothing has been spawned then), and
// std::logic_error where no runtime runs. Does not suspend, with one exception: on a task whose worker's
// table has a quarter of its slots taken (2M of FULT_MAX_TASKS) it lets others run every 63rd time, and at
// the bound until a slot is free, before it throws. So who holds a std::mutex or a spinlock spawns fewer. The
// returned handle detaches when it is destroyed. Source: private words are ours (docs/scheduler.md); the bit
// a task is from section 4.2.1 of Dang's dissertation.
template <class F, class... A>
requires std::invocable<std::decay_t<F>, std::decay_t<A>...> FULT_ALWAYS_INLINE auto spawn(F &&function,
                                                                                           A &&...arguments) {
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

// As above, with options. Throws also std::out_of_range for a worker that does not exist, and
// std::invalid_argument for a stack above 1 GiB, or where a foreign thread pins a task and names no worker.
template <class F, class... A>
requires std::invocable<std::decay_t<F>, std::decay_t<A>...>
auto spawn(const spawn_options &options, F &&function, A &&...arguments) {
    using result = detail::spawn_result_t<F, A...>;
    auto closure = detail::make_closure(std::forward<F>(function), std::forward<A>(arguments)...);
    return detail::spawn_closure_with<decltype(closure), result>(options, std::move(closure));
}

// Gives the task to a worker, from which others may steal it. From any thread; suspends at the bound
// alone, as above. Errors as above.
template <class F, class... A> auto spawn_on(unsigned worker, F &&function, A &&...arguments) {
    return spawn(spawn_options{.worker = detail::worker_number(worker)}, std::forward<F>(function),
                 std::forward<A>(arguments)...);
}

// Gives the task to a worker, and to no other. From any thread; suspends at the bound alone, as
// above. Errors as above.
template <class F, class... A> auto spawn_pinned(unsigned worker, F &&function, A &&...arguments) {
    return spawn(spawn_options{.worker = detail::worker_number(worker), .pinned = true},
                 std::forward<F>(function), std::forward<A>(arguments)...);
}

} // namespace fult
