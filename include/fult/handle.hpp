/// @file
/// The owner of a spawned task: join it once, or detach it.
#pragma once

#include <concepts>
#include <cstddef>
#include <stop_token>
#include <utility>

#include <fult/detail/fast_path.hpp>
#include <fult/detail/mistake.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/task_id.hpp>

namespace fult {

namespace detail {
/// @cond internal
FULT_API task_id id_of(const task *t) noexcept;
FULT_API bool is_done(const task *t) noexcept;
FULT_API void await_all(task *const *tasks, std::size_t count) noexcept;
// Returns the index of a task that has ended; count if a stop was requested first, or all are null.
FULT_API std::size_t await_any(task *const *tasks, std::size_t count, const std::stop_token *stop);
/// @endcond

/// Base of handle<R> and spawned<F>: the unique owner of a task that is not joined yet.
class task_owner {
  public:
    /// Owns nothing.
    task_owner() noexcept = default;
    /// Used by spawn.
    explicit task_owner(task *t) noexcept : task_(t) {}
    /// Takes over the task; the other owns nothing afterwards.
    task_owner(task_owner &&other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
    /// The same; a task owned before is detached.
    task_owner &operator=(task_owner &&other) noexcept {
        if (this != &other) {
            detach_if_owned();
            task_ = std::exchange(other.task_, nullptr);
        }
        return *this;
    }
    /// Detaches.
    ~task_owner() { detach_if_owned(); }

    /// True if it owns a task to join: false after join, detach or a move.
    [[nodiscard]] bool valid() const noexcept { return task_ != nullptr; }

    /// The id of the task, to signal it. From any thread; does not suspend.
    task_id id() const noexcept { return task_ ? id_of(task_) : task_id{}; }

    /// True if the task has ended, so that join returns at once. From any thread; does not suspend.
    [[nodiscard]] bool done() const noexcept { return task_ && is_done(task_); }

    /// Waits for the task to end. The result stays in it: join returns it at once. Returns at once if no task
    /// is owned. On a task: suspends. On a foreign thread: blocks.
    void wait() const noexcept {
        if (task_)
            await_all(&task_, 1);
    }

    /// Detaches the task: it will not be joined, and its result is dropped. An exception that leaves it ends
    /// the program. From any thread; does not suspend.
    void detach() noexcept { detach_task(release("detach")); }

  protected:
    /// @cond internal
    friend struct handle_access;
    task *release(const char *call) noexcept {
        if (!task_) [[unlikely]]
            misuse(call, "the handle owns no task: it was joined, detached or moved from");
        return std::exchange(task_, nullptr);
    }
    /// @endcond

  private:
    void detach_if_owned() noexcept {
        if (task_) [[unlikely]]
            abandon_task(std::exchange(task_, nullptr));
    }

    task *task_ = nullptr;
};

/// @cond internal
// For functions that take handles.
struct handle_access {
    static task *get(const task_owner &from) noexcept { return from.task_; }
    static task *release(task_owner &from, const char *call) noexcept { return from.release(call); }
};
/// @endcond
} // namespace detail

/// Owns a task whose callable returns R (void, references and move-only types included). Movable, not
/// copyable; must not be used by two threads at once. Its destructor detaches silently: unlike std::thread's
/// it does not end the program, and unlike std::jthread's it does not wait. A handle must be joined, detached
/// or destroyed before its runtime ends; one that outlives it ends the program. FULT_REPORT_DETACHED reports
/// each handle that is destroyed unjoined.
template <class R> class handle : public detail::task_owner {
  public:
    using value_type = R; ///< result type of join
    using detail::task_owner::task_owner;
    handle() noexcept = default;                     ///< owns nothing
    handle(handle &&other) noexcept = default;       ///< the other owns nothing afterwards
    handle &operator=(handle &&) noexcept = default; ///< the same; a task owned before is detached
    /// @cond internal
    // A copy, which does not exist, of what is no constant.
    template <std::derived_from<handle> Other> handle(Other &) { refuse_copy<Other>(); }
    template <std::derived_from<handle> Other> handle &operator=(Other &) {
        refuse_copy<Other>();
        return *this;
    }
    /// @endcond

    /// Waits for the task to end and returns its result, or rethrows its exception. The handle is empty
    /// afterwards. On a task: suspends only this task; runs the child inline if no other worker has claimed
    /// it. On a foreign thread: blocks.
    R join() { return detail::join_slow<R>(release("join")); }

  protected:
    /// @cond internal
    template <class Other> static void refuse_copy() {
        static_assert(detail::mistake<Other>,
                      "fult::handle: a task has one owner, which joins it once: pass the handle on by "
                      "std::move, or as a reference");
    }
    /// @endcond
};

/// Returned by spawn: a handle that also knows the callable's type, so that join can run it inline without an
/// indirect call. Converts to a handle<R> by a move.
template <class C, class R> class spawned : public handle<R> {
  public:
    using handle<R>::handle;
    spawned() noexcept = default;                      ///< owns nothing
    spawned(spawned &&other) noexcept = default;       ///< the other owns nothing afterwards
    spawned &operator=(spawned &&) noexcept = default; ///< the same; a task owned before is detached

    /// @cond internal
    template <std::same_as<spawned> Other> spawned(Other &) { handle<R>::template refuse_copy<Other>(); }
    template <std::same_as<spawned> Other> spawned &operator=(Other &) {
        handle<R>::template refuse_copy<Other>();
        return *this;
    }
    /// @endcond

    /// As handle::join.
    R join() { return detail::join_closure<C, R>(this->release("join")); }
};

} // namespace fult
