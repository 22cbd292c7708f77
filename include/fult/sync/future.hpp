// A value that somebody promises and somebody else waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <future> // std::future_error, std::future_status
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <fult/sync/waiter.hpp>

namespace fult {

using std::future_errc;
using std::future_error;
using std::future_status;

namespace detail {

// What a promise and its future share, but for the value.
class FULT_API shared_state {
  public:
    shared_state() noexcept = default;
    shared_state(const shared_state &) = delete;
    shared_state &operator=(const shared_state &) = delete;

    bool is_ready() const noexcept {
        return state_.load(std::memory_order_acquire) == ready;
    } // pairs with publish
    bool wait(const wait_limits &limits);
    void begin();            // throws future_error where a value or an exception was set already
    void publish() noexcept; // what begin reserved is there
    void abandon() noexcept; // where begin was not called: ready with broken_promise
    void fail(std::exception_ptr error) {
        begin();
        error_ = std::move(error);
        publish();
    }
    void give_up_begin() noexcept { state_.store(empty, std::memory_order_relaxed); }
    void rethrow_if_failed() {
        if (error_)
            std::rethrow_exception(error_);
    }
    // Two owners; whether the caller was the last.
    bool drop() noexcept { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; } // pairs with itself

  protected:
    std::exception_ptr error_;

  private:
    enum : int { empty, being_set, ready };
    std::atomic<int> state_{empty};
    std::atomic<int> owners_{1};
    friend void share(shared_state &state) noexcept;
    short_lock lock_;
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
        try {
            ::new (static_cast<void *>(std::addressof(value))) stored(std::forward<From>(from)...);
        } catch (...) {
            this->give_up_begin();
            throw;
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

} // namespace detail

template <class T> class promise;

// The receiving end, as std::future. Waiting suspends a task and blocks a foreign thread. From any thread,
// one at a time. All calls but valid and moves throw future_error (no_state) where it is not valid.
template <class T> class future {
  public:
    // Not valid; promise::get_future makes one that is.
    future() noexcept = default;
    // Takes the value over; the other is not valid afterwards.
    future(future &&) noexcept = default;
    // The same; a value that was to come before is dropped.
    future &operator=(future &&) noexcept = default;

    // Whether it has a promise whose value was not got yet. Does not suspend.
    bool valid() const noexcept { return state_ != nullptr; }
    // Whether get() returns at once. Does not suspend.
    bool ready() const { return checked().is_ready(); }

    // Waits, then returns the value or throws the exception that was set; broken_promise where the promise
    // ended without either. Not valid afterwards.
    T get() {
        checked().wait(detail::wait_limits());
        const detail::state_pointer<T> state = std::move(state_);
        state->rethrow_if_failed();
        if constexpr (std::is_reference_v<T>)
            return *state->value;
        else if constexpr (!std::is_void_v<T>)
            return std::move(state->value);
    }

    // Waits until the value or the exception is there.
    void wait() const { checked().wait(detail::wait_limits()); }
    // The same, for so long at most. Throws std::system_error where a runtime's first timed
    // wait lacks memory.
    template <class Rep, class Period>
    future_status wait_for(const std::chrono::duration<Rep, Period> &duration) const {
        return told(checked().is_ready() ||
                    checked().wait(detail::wait_limits(detail::deadline_after(duration))));
    }
    // As wait_for, until a time of any clock.
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        return told(detail::attempt_until(
            time, [this](auto deadline) { return checked().wait(detail::wait_limits(deadline)); }));
    }
    // As wait, until a stop is requested; whether the value is there.
    bool wait(const std::stop_token &stop) const { return checked().wait(detail::wait_limits(stop)); }

  private:
    friend class promise<T>;
    explicit future(detail::valued_state<T> *state) noexcept : state_(state) {}
    detail::valued_state<T> &checked() const {
        if (!state_)
            throw future_error(future_errc::no_state);
        return *state_;
    }
    static future_status told(bool is_there) noexcept {
        return is_there ? future_status::ready : future_status::timeout;
    }
    detail::state_pointer<T> state_;
};

// The sending end, as std::promise. Setting does not suspend. From any thread, one at a time. Getting
// the future and setting throw future_error (no_state) where it was moved from.
template <class T> class promise {
  public:
    // Throws std::bad_alloc.
    promise() : state_(new detail::valued_state<T>) {}
    // Takes it over; the other is good for nothing but an assignment.
    promise(promise &&) noexcept = default;
    // The same; what was promised before is broken.
    promise &operator=(promise &&other) noexcept {
        promise(std::move(other)).swap(*this);
        return *this;
    }
    // Where nothing was set, the future gets a future_error (broken_promise).
    ~promise() {
        if (state_)
            state_->abandon();
    }
    // Exchanges two of them. Does not throw.
    void swap(promise &other) noexcept {
        std::swap(state_, other.state_);
        std::swap(taken_, other.taken_);
    }

    // The other end. Once; throws future_error (future_already_retrieved) the second time.
    future<T> get_future() {
        detail::valued_state<T> &state = checked();
        if (std::exchange(taken_, true))
            throw future_error(future_errc::future_already_retrieved);
        detail::share(state);
        return future<T>(&state);
    }

    // For promise<void>: says that it is done. Throws future_error (promise_already_satisfied) where
    // something was set before, as do all that follow.
    void set_value() requires std::is_void_v<T> { checked().set(); }
    // Sets the value. Throws also what copying or moving it throws; it can be set again then.
    template <class U = T>
    requires(!std::is_void_v<T> && !std::is_reference_v<T> &&
             std::is_constructible_v<T, U &&>) void set_value(U &&value) {
        checked().set(std::forward<U>(value));
    }
    // For promise<U &>: sets what it refers to.
    template <class U = T>
    requires std::is_reference_v<U>
    void set_value(std::remove_reference_t<U> &value) { checked().set(std::addressof(value)); }
    // Sets the exception that get throws.
    void set_exception(std::exception_ptr error) { checked().fail(std::move(error)); }

  private:
    detail::valued_state<T> &checked() const {
        if (!state_)
            throw future_error(future_errc::no_state);
        return *state_;
    }
    detail::state_pointer<T> state_;
    bool taken_ = false;
};

} // namespace fult
