/// @file
/// A variable that is full or empty.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Required by readFF and related calls: they return a copy and leave the original. A value that cannot be
/// copied is taken by readFE.
template <class T>
concept copied_value = std::is_copy_constructible_v<T>;

/// The full/empty bits of the Tera MTA and of Qthreads, with their names: read or write when full (F) or
/// empty (E), and the state in which it is left. Waiting suspends a task and blocks a foreign thread. All
/// calls are from any thread. Waiters of one kind are served first come, first served; when a value comes,
/// all readFF get it before one readFE takes it. T is default-constructible, and its moves and copies neither
/// throw nor suspend: values are moved under a short lock. Source: Wheeler, Murphy, Thain, "Qthreads", MTAAP
/// 2008.
template <class T> class full_empty {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                      std::is_default_constructible_v<T>,
                  "values of a full_empty must move without throwing, and have a default");

  public:
    using value_type = T; ///< type of the value

    /// Empty.
    full_empty() = default;
    /// Full.
    explicit full_empty(T value) noexcept : value_(std::move(value)), full_(true) {}
    full_empty(const full_empty &) = delete;
    full_empty &operator=(const full_empty &) = delete;

    /// Waits until it is full, returns a copy of the value and leaves it full.
    T readFF() requires copied_value<T> { return *read_within(false, detail::wait_limits()); }
    /// Waits until it is full, takes the value and leaves it empty.
    T readFE() { return *read_within(true, detail::wait_limits()); }
    /// Waits until it is empty, writes the value and leaves it full.
    void writeEF(T value) { write_within(value, detail::wait_limits()); }
    /// Writes in any state and leaves it full. Does not suspend.
    void writeF(T value) noexcept {
        lock_.lock();
        settle(std::move(value));
    }

    /// As readFF if it is full; otherwise empty. Does not suspend.
    [[nodiscard]] std::optional<T> try_readFF() noexcept requires copied_value<T> { return read_now(false); }
    /// As readFE if it is full; otherwise empty. Does not suspend.
    [[nodiscard]] std::optional<T> try_readFE() noexcept { return read_now(true); }
    /// As writeEF if it is empty; otherwise returns false. Does not suspend.
    [[nodiscard]] bool try_writeEF(T value) noexcept {
        lock_.lock();
        if (full_) {
            lock_.unlock();
            return false;
        }
        settle(std::move(value));
        return true;
    }

    /// As readFF; empty on timeout. Throws std::system_error if the memory for a runtime's first
    /// timed wait cannot be allocated, as do all that follow with a time.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T>
    try_readFF_for(const std::chrono::duration<Rep, Period> &duration) requires copied_value<T> {
        return read_within(false, detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As readFE; empty on timeout.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> try_readFE_for(const std::chrono::duration<Rep, Period> &duration) {
        return read_within(true, detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As writeEF; false on timeout.
    template <class Rep, class Period>
    [[nodiscard]] bool try_writeEF_for(T value, const std::chrono::duration<Rep, Period> &duration) {
        return write_within(value, detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As try_readFF_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T>
    try_readFF_until(const std::chrono::time_point<Clock, Duration> &time) requires copied_value<T> {
        return detail::attempt_until(
            time, [this](auto deadline) { return read_within(false, detail::wait_limits(deadline)); });
    }
    /// As try_readFE_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T> try_readFE_until(const std::chrono::time_point<Clock, Duration> &time) {
        return detail::attempt_until(
            time, [this](auto deadline) { return read_within(true, detail::wait_limits(deadline)); });
    }
    /// As try_writeEF_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_writeEF_until(T value, const std::chrono::time_point<Clock, Duration> &time) {
        return detail::attempt_until(
            time, [&](auto deadline) { return write_within(value, detail::wait_limits(deadline)); });
    }
    /// As readFF; empty if a stop is requested.
    [[nodiscard]] std::optional<T> readFF(const std::stop_token &stop) requires copied_value<T> {
        return read_within(false, detail::wait_limits(stop));
    }
    /// As readFE; empty if a stop is requested.
    [[nodiscard]] std::optional<T> readFE(const std::stop_token &stop) {
        return read_within(true, detail::wait_limits(stop));
    }
    /// As writeEF; false if a stop is requested.
    [[nodiscard]] bool writeEF(T value, const std::stop_token &stop) {
        return write_within(value, detail::wait_limits(stop));
    }

    /// Makes it full with its last value, or the default value. Does not suspend. A call that empties it
    /// moves the value out: of a type such as std::string, what fill makes visible after that is a moved-from
    /// object.
    void fill() noexcept {
        lock_.lock();
        if (full_)
            lock_.unlock();
        else
            settle();
    }
    /// Makes it empty; a waiting writeEF then fills it at once. Does not suspend.
    void purge() noexcept {
        lock_.lock();
        refill();
    }
    /// True if it is full. For reports: it may change at any time. Does not suspend.
    [[nodiscard]] bool is_full() const noexcept {
        const std::lock_guard guard(lock_);
        return full_;
    }

  private:
    static std::optional<T> &destination(detail::waiter &w) noexcept {
        return *static_cast<std::optional<T> *>(w.subject);
    }

    /// Called under the lock after a value has come: serves the waiters for a value, then the writers.
    /// Releases the lock.
    void settle(T &&value) noexcept {
        value_ = std::move(value);
        settle();
    }
    /// The same for the value that is there.
    void settle() noexcept {
        detail::wait_chain served;
        full_ = true;
        serve(served);
        lock_.unlock();
        served.grant();
    }
    /// The same, after the value has been taken.
    void refill() noexcept {
        detail::wait_chain served;
        full_ = false;
        if (detail::waiter *writer = writers_.pop()) {
            value_ = std::move(*static_cast<T *>(writer->subject));
            served.add(writer);
            full_ = true;
            serve(served);
        }
        lock_.unlock();
        served.grant();
    }
    void serve(detail::wait_chain &served) noexcept {
        for (;;) {
            if constexpr (copied_value<T>)
                while (detail::waiter *reader = readers_.pop()) {
                    destination(*reader).emplace(std::as_const(value_));
                    served.add(reader);
                }
            detail::waiter *taker = takers_.pop();
            if (!taker)
                return;
            destination(*taker).emplace(std::move(value_));
            served.add(taker);
            full_ = false;
            detail::waiter *writer = writers_.pop();
            if (!writer)
                return;
            value_ = std::move(*static_cast<T *>(writer->subject));
            served.add(writer);
            full_ = true;
        }
    }

    /// Called under the lock while it is full. Releases the lock.
    std::optional<T> take(bool empties) noexcept {
        std::optional<T> value;
        if (!empties) {
            if constexpr (copied_value<T>)
                value.emplace(std::as_const(value_));
            lock_.unlock();
            return value;
        }
        value.emplace(std::move(value_));
        refill();
        return value;
    }
    std::optional<T> read_now(bool empties) noexcept {
        lock_.lock();
        if (full_)
            return take(empties);
        lock_.unlock();
        return std::nullopt;
    }
    std::optional<T> read_within(bool empties, const detail::wait_limits &limits) {
        lock_.lock();
        if (full_)
            return take(empties);
        std::optional<T> value;
        detail::waiter self;
        self.subject = &value;
        detail::wait_in({"full_empty", this}, lock_, empties ? takers_ : readers_, self, limits);
        return value;
    }
    bool write_within(T &value, const detail::wait_limits &limits) {
        lock_.lock();
        if (full_) {
            detail::waiter self;
            self.subject = std::addressof(value);
            return detail::wait_in({"full_empty (to be emptied)", this}, lock_, writers_, self, limits);
        }
        settle(std::move(value));
        return true;
    }

    mutable detail::spin_lock lock_;
    T value_{};
    bool full_ = false;
    detail::wait_list readers_, takers_, writers_; ///< readFF, readFE, writeEF
};

} // namespace fult
