/// @file
/// A promise and the future that receives its value.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <future> // std::future_error, std::future_status
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/waiter.hpp>

namespace fult {

using std::future_errc;
using std::future_error;
using std::future_status;

/// @cond internal
namespace detail {

// The state shared by a promise and its future, except the value.
class FULT_API shared_state {
  public:
    shared_state() noexcept = default;
    shared_state(const shared_state &) = delete;
    shared_state &operator=(const shared_state &) = delete;

    [[nodiscard]] bool is_ready() const noexcept {
        return state_.load(std::memory_order_acquire) == is_set;
    } // pairs with publish
    bool wait(const wait_limits &limits);
    void begin();            // throws future_error if a value or an exception was set already
    void publish() noexcept; // makes the state ready after begin
    void abandon() noexcept; // if begin was not called: sets broken_promise
    void fail(std::exception_ptr error) {
        begin();
        if (!error)
            misuse("promise::set_exception", "the pointer is null: there is no exception");
        error_ = std::move(error);
        publish();
    }
    void give_up_begin() noexcept { state_.store(empty, std::memory_order_relaxed); }
    // The caller of get() owns the exception then, and ends it.
    void rethrow_if_failed() {
        if (error_)
            std::rethrow_exception(std::move(error_));
    }
    // There are two owners. Returns true if the caller was the last.
    // True for the last owner, which passes through the lock: then publish no longer uses the state.
    bool drop() noexcept {
        if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) // pairs with itself
            return false;
        lock_.lock();
        lock_.unlock();
        return true;
    }

  protected:
    std::exception_ptr error_;

  private:
    enum : int { empty, being_set, is_set };
    std::atomic<int> state_{empty};
    std::atomic<int> owners_{1};
    friend void share(shared_state &state) noexcept;
    spin_lock lock_;
    wait_list waiters_;
};
inline void share(shared_state &state) noexcept { state.owners_.store(2, std::memory_order_relaxed); }

template <class T> struct valued_state : shared_state {
    using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T> *,
                                      std::conditional_t<std::is_void_v<T>, char, T>>;
    union {
        stored value;
    };
    bool full = false;

    valued_state() noexcept {}
    ~valued_state() {
        if (full)
            value.~stored();
    }
    template <class... From> void set(From &&...from) {
        this->begin();
        FULT_TRY { ::new (static_cast<void *>(std::addressof(value))) stored(std::forward<From>(from)...); }
        FULT_CATCH_ALL {
            this->give_up_begin();
            FULT_RETHROW;
        }
        full = true;
        this->publish();
    }
};

template <class T> struct drop_state {
    void operator()(valued_state<T> *state) const noexcept {
        if (state->drop())
            delete state;
    }
};
template <class T> using state_pointer = std::unique_ptr<valued_state<T>, drop_state<T>>;

template <class T> valued_state<T> &checked(const state_pointer<T> &state) {
    if (!state)
        raise(future_error(future_errc::no_state));
    return *state;
}

} // namespace detail
/// @endcond

template <class T> class promise;

/// The receiving end, like std::future. Waiting suspends a task and blocks a foreign thread. From any thread,
/// one at a time. All calls except valid and moves throw future_error (no_state) if it is not valid.
template <class T> class future {
  public:
    /// Not valid; promise::get_future returns a valid one.
    future() noexcept = default;
    /// Takes over the state; the other is not valid afterwards.
    future(future &&) noexcept = default;
    /// The same; a previous state is dropped.
    future &operator=(future &&) noexcept = default;

    /// True if it has a promise whose value was not taken yet. Does not suspend.
    [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
    /// True if get() returns at once. Does not suspend.
    [[nodiscard]] bool ready() const { return checked().is_ready(); }

    /// Waits, then returns the value or throws the exception that was set; broken_promise if the promise was
    /// destroyed without either. Not valid afterwards.
    T get() {
        checked().wait(detail::wait_limits());
        const detail::state_pointer<T> state = std::move(state_);
        state->rethrow_if_failed();
        if constexpr (std::is_reference_v<T>)
            return *state->value;
        else if constexpr (!std::is_void_v<T>)
            return std::move(state->value);
    }

    /// Waits until the value or the exception is set.
    void wait() const { checked().wait(detail::wait_limits()); }
    /// The same, for at most the duration. Throws std::system_error if the memory for a runtime's first timed
    /// wait cannot be allocated.
    template <class Rep, class Period>
    future_status wait_for(const std::chrono::duration<Rep, Period> &duration) const {
        return future_status_of(checked().is_ready() ||
                                checked().wait(detail::wait_limits(detail::deadline_after(duration))));
    }
    /// As wait_for, with a time of any clock.
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        return future_status_of(detail::attempt_until(
            time, [this](auto deadline) { return checked().wait(detail::wait_limits(deadline)); }));
    }
    /// As wait, until a stop is requested. Returns true if the value is set.
    [[nodiscard]] bool wait(const std::stop_token &stop) const {
        return checked().wait(detail::wait_limits(stop));
    }

  private:
    friend class promise<T>;
    explicit future(detail::valued_state<T> *state) noexcept : state_(state) {}
    detail::valued_state<T> &checked() const { return detail::checked<T>(state_); }
    static future_status future_status_of(bool is_there) noexcept {
        return is_there ? future_status::ready : future_status::timeout;
    }
    detail::state_pointer<T> state_;
};

/// The sending end, like std::promise. Setting does not suspend. From any thread, one at a time. get_future
/// and the setters throw future_error (no_state) if it was moved from.
template <class T> class promise {
  public:
    /// Throws std::bad_alloc.
    promise() : state_(new detail::valued_state<T>) {}
    /// Takes over the state; the other may only be assigned to or destroyed.
    promise(promise &&) noexcept = default;
    /// The same; the previous promise is broken.
    promise &operator=(promise &&other) noexcept {
        promise(std::move(other)).swap(*this);
        return *this;
    }
    /// If nothing was set, the future gets a future_error (broken_promise).
    ~promise() {
        if (state_)
            state_->abandon();
    }
    /// Exchanges two promises. Does not throw.
    void swap(promise &other) noexcept {
        std::swap(state_, other.state_);
        std::swap(taken_, other.taken_);
    }

    /// Returns the future. Throws future_error (future_already_retrieved) on the second call.
    future<T> get_future() {
        detail::valued_state<T> &state = checked();
        if (std::exchange(taken_, true))
            detail::raise(future_error(future_errc::future_already_retrieved));
        detail::share(state);
        return future<T>(&state);
    }

    /// For promise<void>: makes the future ready. Throws future_error (promise_already_satisfied) if
    /// something was set before, as do all that follow.
    void set_value() requires std::is_void_v<T> { checked().set(); }
    /// Sets the value. Also throws what copying or moving it throws; it can be set again then.
    template <class U = T>
    requires(!std::is_void_v<T> && !std::is_reference_v<T> &&
             std::is_constructible_v<T, U &&>) void set_value(U &&value) {
        checked().set(std::forward<U>(value));
    }
    /// For promise<U &>: sets the reference.
    template <class U = T>
    requires std::is_reference_v<U>
    void set_value(std::remove_reference_t<U> &value) { checked().set(std::addressof(value)); }
    /// Sets the exception that get throws. Ends the program if the pointer is null.
    void set_exception(std::exception_ptr error) { checked().fail(std::move(error)); }

  private:
    detail::valued_state<T> &checked() const { return detail::checked<T>(state_); }
    detail::state_pointer<T> state_;
    bool taken_ = false;
};

} // namespace fult
