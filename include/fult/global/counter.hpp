/// @file
/// Counters: an object of one rank that all ranks count down, and tasks that start when it is zero. Source:
/// `future` and `counter` of PPL (sections 2.1 and 4.3).
#pragma once

#include <fult/detail/language.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/global/memory.hpp>
#include <fult/global/spawn_at.hpp>
#include <fult/spawn.hpp>
#include <fult/sync/event.hpp>
#include <fult/sync/future.hpp>

namespace fult::global {

class counter;

/// @cond internal
namespace detail {

// A task that has not been spawned yet: it has no stack.
struct delayed_task {
    delayed_task() noexcept = default;
    delayed_task(const delayed_task &) = delete;
    delayed_task &operator=(const delayed_task &) = delete;
    virtual ~delayed_task() = default;
    virtual void start() noexcept = 0; // once; it deletes itself
    delayed_task *next = nullptr;
};

// The closure is a callable with its arguments.
template <class R, class Closure> class delayed_call final : public delayed_task {
  public:
    explicit delayed_call(Closure closure) : closure_(std::move(closure)) {}
    fult::future<R> get_future() { return result_.get_future(); }

    void start() noexcept override {
        FULT_TRY {
            fult::spawn([this] { run(); }).detach();
        }
        FULT_CATCH_ALL { // no memory or slot for a task: get throws that
            result_.set_exception(std::current_exception());
            delete this;
        }
    }

  private:
    void run() noexcept {
        const std::unique_ptr<delayed_call> own(this);
        std::exception_ptr error; // set behind the handler, which refers to the exception until it ends
        FULT_TRY {
            // What the closure owns ends before the result is there, as with fult::spawn.
            if constexpr (std::is_void_v<R>) {
                (*closure_)();
                closure_.reset();
                result_.set_value();
            } else {
                R value = (*closure_)();
                closure_.reset();
                result_.set_value(std::forward<R>(value));
            }
        }
        FULT_CATCH_ALL { error = std::current_exception(); }
        if (error)
            result_.set_exception(std::move(error));
    }

    std::optional<Closure> closure_;
    fult::promise<R> result_;
};

// By the owner of the counter. Ends the program if there is none.
FULT_API counter &counter_at(memory &in, global_ptr<counter> at) noexcept;

} // namespace detail
/// @endcond

/// A count that goes down to zero once, in the heap of the rank that makes it; any task of any rank counts
/// down. It is a fult::latch for all ranks that also starts tasks: a task whose requirements are not met yet
/// is a closure, without a stack. Its address for other ranks is a global pointer, a plain value.
class FULT_API counter {
  public:
    /// Zero after `expected` counts; with 0 at once. Throws heap_exhausted, std::bad_alloc. Ends the program
    /// if `expected` is negative. The memory outlives it. Does not suspend.
    explicit counter(memory &in, std::ptrdiff_t expected);
    counter(const counter &) = delete;
    counter &operator=(const counter &) = delete;
    /// Tasks that have not started never do: their futures get std::future_error (broken_promise). A count
    /// for a counter that has ended ends the program with a message. Does not suspend, but for the end of the
    /// count that made it zero.
    ~counter();

    /// Its address for other ranks: fult::global::count_down.
    global_ptr<counter> pointer() const noexcept { return pointer_; }

    /// Decrements the count; at zero starts all tasks that wait for that, and wakes all waiters. Ends the
    /// program if the update is negative or above the count. From any thread of this rank. What happened
    /// before each count, on any rank, happens before those tasks. Suspends only as fult::spawn does.
    void count_down(std::ptrdiff_t update = 1) noexcept;
    /// Waits until the count is zero. May suspend; blocks a foreign thread.
    void wait() const noexcept { zero_.wait(); }
    /// True if the count is zero. Does not suspend.
    bool try_wait() const noexcept {
        return count_.load(std::memory_order_acquire) == 0; // pairs with count_down
    }

    /// Starts a task that runs function(arguments...) when the count is zero, at once if it is; this is the
    /// `future` of PPL. The task owns copies of all of them, as that of fult::spawn does. Returns the future
    /// of its result or exception, which does not join the task: a future that is dropped drops both. From
    /// any thread of this rank. Throws std::bad_alloc. Does not suspend unless the count is zero, and then
    /// only as fult::spawn does.
    template <class F, class... A>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>
    [[nodiscard("the future has the task's result or exception")]] auto spawn_when_zero(F &&function,
                                                                                        A &&...arguments) {
        using result = std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>;
        auto closure = [call = std::decay_t<F>(std::forward<F>(function)),
                        values = std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)]() mutable
            -> decltype(auto) { return std::apply(std::move(call), std::move(values)); };
        auto made = std::make_unique<detail::delayed_call<result, decltype(closure)>>(std::move(closure));
        fult::future<result> made_result = made->get_future();
        start_at_zero(made.release());
        return made_result;
    }

  private:
    void start_at_zero(detail::delayed_task *made) noexcept;

    memory &in_;
    global_ptr<counter> pointer_;
    std::atomic<std::ptrdiff_t> count_;
    std::atomic<detail::delayed_task *> delayed_{nullptr}; // the last one first; `started` after zero
    event zero_;
};

/// @cond internal
namespace detail {

template <class F, class... Args> void count_down_behind(memory &in, global_ptr<counter> at, Args... args) {
    call_function<F>(in, std::move(args)...);
    counter_at(in, at).count_down();
}

} // namespace detail
/// @endcond

/// Decrements a counter of any rank, as counter::count_down does there. For another rank it is a message:
/// the call returns when that has left. Throws comm::error if the owner has ended, std::out_of_range for a
/// null pointer, std::bad_alloc. May suspend.
FULT_API void count_down(memory &in, global_ptr<counter> at, std::ptrdiff_t update = 1);

/// Calls `f(args...)` or `f(memory, args...)` in a task of the counter's owner, then counts down by one: an
/// active message whose effects the tasks see that the counter starts. `f`, arguments and errors as those of
/// spawn_detached_at; the result is dropped. May suspend.
template <class F, class... Args>
void run_and_count_down(memory &in, global_ptr<counter> at, const F &, const Args &...args) {
    detail::check_function<F>();
    if constexpr (detail::is_stateless<F>)
        spawn_detached_at<detail::count_down_behind<F, std::decay_t<Args>...>>(in, at.rank(), at, args...);
}
/// The same for a function: `run_and_count_down<function>(memory, counter, arguments...)`.
template <auto Function, class... Args>
void run_and_count_down(memory &in, global_ptr<counter> at, const Args &...args) {
    run_and_count_down(in, at, detail::constant_function<Function>(), args...);
}

} // namespace fult::global
