// The owner of a spawned task: join it once, or let it go.
#pragma once

#include <cstddef>
#include <iterator>
#include <ranges>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include <fult/detail/fast_path.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/task_id.hpp>

namespace fult {

namespace detail {
FULT_API task_id id_of(const task *t) noexcept;
FULT_API bool is_done(const task *t) noexcept;
FULT_API void await_all(task *const *tasks, std::size_t count) noexcept;
// From a task: the index of one that has ended; count where a stop was requested before, or all are null.
FULT_API std::size_t await_any(task *const *tasks, std::size_t count, const std::stop_token *stop);

// What handle<R> and spawned<F> share: exactly one owner of a task that is not yet joined.
class task_owner {
  public:
    // Owns nothing.
    task_owner() noexcept = default;
    // For spawn.
    explicit task_owner(task *t) noexcept : task_(t) {}
    // Takes the task over; the other owns nothing afterwards.
    task_owner(task_owner &&other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
    // The same; a task that was owned before is detached.
    task_owner &operator=(task_owner &&other) noexcept {
        if (this != &other) {
            detach_if_owned();
            task_ = std::exchange(other.task_, nullptr);
        }
        return *this;
    }
    // Detaches.
    ~task_owner() { detach_if_owned(); }

    // Whether there is a task to join: false after join, detach or a move.
    bool valid() const noexcept { return task_ != nullptr; }
    // As valid.
    explicit operator bool() const noexcept { return valid(); }

    // The task's name, to signal it. From any thread; does not suspend.
    task_id id() const noexcept { return task_ ? id_of(task_) : task_id{}; }

    // Whether the task has ended, so that join returns at once. From any thread; does not suspend.
    bool done() const noexcept { return task_ && is_done(task_); }

    // Lets the task go: nobody will join it, its result is dropped. An exception that leaves it ends the
    // program. From any thread; does not suspend.
    void detach() noexcept { detach_task(release("detach")); }

    // For the library itself.
    task *get() const noexcept { return task_; }
    // For the library itself.
    task *release(const char *call) noexcept {
        if (!task_) [[unlikely]]
            misuse(call, "the handle owns no task: it was joined, detached or moved from");
        return std::exchange(task_, nullptr);
    }

  private:
    void detach_if_owned() noexcept {
        if (task_) [[unlikely]]
            abandon_task(std::exchange(task_, nullptr));
    }

    task *task_ = nullptr;
};
} // namespace detail

// Owns a task whose callable returns R (void, a reference and move-only types included). Movable, not
// copyable; one owner, not to be used by two threads at once. Its destructor detaches, without a word: unlike
// std::thread's it does not end the program, and unlike std::jthread's it does not wait. A handle is joined,
// detached or destroyed before its runtime ends; one that outlives it ends the program. FULT_REPORT_DETACHED
// reports each one that is destroyed unjoined.
template <class R> class handle : public detail::task_owner {
  public:
    using value_type = R; // what join returns
    using detail::task_owner::task_owner;

    // Waits for the task to end and returns its result, or throws what left it. The handle is empty
    // afterwards. From a task: suspends only this task, and where nobody else wanted the child yet, runs it
    // right here. From a foreign thread: blocks the thread.
    R join() { return detail::join_slow<R>(release("join")); }
};

// What spawn returns: a handle that still knows the callable's type, so that join can run it inline without
// an indirect call. Moves into a handle<R> where one type for many tasks is wanted.
template <class C, class R> class spawned : public handle<R> {
  public:
    using handle<R>::handle;

    // As handle::join.
    R join() { return detail::join_closure<C, R>(this->release("join")); }
};

// A range of handles, of any one type. (Ranges of other things are for other functions of these names, such
// as comm::wait_all.)
template <class R>
concept handle_range = std::ranges::input_range<R> &&
    std::is_base_of_v<detail::task_owner, std::remove_cvref_t<std::ranges::range_reference_t<R>>>;

// Waits for many tasks with one wake-up. The results stay where they are: join each handle afterwards, which
// returns at once. From a task (suspends it) or from a foreign thread (blocks it). Empty handles are passed
// over.
template <handle_range Range> void wait_all(const Range &handles) {
    std::vector<detail::task *> tasks;
    if constexpr (std::ranges::sized_range<Range>)
        tasks.reserve(std::ranges::size(handles));
    for (const auto &each : handles)
        if (each.valid())
            tasks.push_back(each.get());
    detail::await_all(tasks.data(), tasks.size());
}

// The same for handles that are named one by one; these may be of different types.
template <class... H>
requires(std::is_base_of_v<detail::task_owner, H> &&...) void wait_all(const H &...handles) {
    detail::task *tasks[sizeof...(H) + 1];
    std::size_t count = 0;
    ((handles.valid() ? void(tasks[count++] = handles.get()) : void()), ...);
    detail::await_all(tasks, count);
}

namespace detail {
// Joins every handle even where one throws; the first exception in order is rethrown at the end.
class first_exception {
  public:
    template <class H> void join(H &handle) {
        try {
            (void)handle.join();
        } catch (...) {
            if (!error_)
                error_ = std::current_exception();
        }
    }
    void rethrow() {
        if (error_)
            std::rethrow_exception(std::move(error_));
    }

  private:
    std::exception_ptr error_;
};
} // namespace detail

// Joins many tasks with one wake-up, dropping their results; all are joined also where some throw, and the
// first exception in the order of the handles is rethrown. From a task (suspends it) or a foreign thread
// (blocks it).
template <handle_range Range>
requires std::ranges::forward_range<Range>
void join_all(Range &&handles) {
    wait_all(handles);
    detail::first_exception errors;
    for (auto &each : handles)
        if (each.valid())
            errors.join(each);
    errors.rethrow();
}

// The same for handles that are named one by one; these may be of different types.
template <class... H>
requires(std::is_base_of_v<detail::task_owner, std::remove_cvref_t<H>> &&...) void join_all(H &&...handles) {
    wait_all(handles...);
    detail::first_exception errors;
    ((handles.valid() ? errors.join(handles) : void()), ...);
    errors.rethrow();
}

} // namespace fult
