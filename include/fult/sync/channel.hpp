/// @file
/// A bounded queue between tasks and threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Holds up to `capacity` values. With capacity 0, a sender waits until a receiver takes its value directly.
/// Values leave in the order in which they came; waiting senders and receivers are served first come, first
/// served. Waiting suspends a task and blocks a foreign thread. All calls except the constructor and the
/// destructor are from any thread. T must move without throwing and without suspending: values are moved
/// under a short lock.
template <class T> class channel {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "values of a channel must move without throwing; send a std::unique_ptr of others");

  public:
    using value_type = T; ///< type of the values

    /// Creates an open channel. Throws std::bad_alloc.
    explicit channel(std::size_t capacity)
        : capacity_(capacity), slots_(capacity ? std::allocator<T>().allocate(capacity) : nullptr) {}
    /// Requires that no thread uses the channel. Destroys values that were not received.
    ~channel() {
        for (; size_ != 0; --size_, ++first_)
            std::destroy_at(slot(first_));
        if (slots_)
            std::allocator<T>().deallocate(slots_, capacity_);
    }
    channel(const channel &) = delete;
    channel &operator=(const channel &) = delete;

    /// The capacity given to the constructor.
    std::size_t capacity() const noexcept { return capacity_; }

    /// Waits for room, then sends. Returns false if the channel is or becomes closed: the value is not moved
    /// from then.
    bool send(T &&value) { return send_within(value, detail::wait_limits()) == sending::done; }
    /// The same with a copy; also throws what copying throws.
    bool send(const T &value) requires std::is_copy_constructible_v<T> { return send(T(value)); }
    /// Like send; also returns false if a stop is requested.
    [[nodiscard]] bool send(T &&value, const std::stop_token &stop) {
        return send_within(value, detail::wait_limits(stop)) == sending::done;
    }
    /// Sends only if there is room or a receiver waits. Returns false otherwise, and if the channel is
    /// closed. Does not suspend.
    [[nodiscard]] bool try_send(T &&value) noexcept {
        lock_.lock();
        const sending result = place(value);
        if (result == sending::not_yet)
            lock_.unlock();
        return result == sending::done;
    }
    /// The same with a copy; throws what copying throws.
    [[nodiscard]] bool try_send(const T &value) requires std::is_copy_constructible_v<T> {
        return try_send(T(value));
    }
    /// Like send; also returns false on timeout: then the value is not moved from. Throws
    /// std::system_error if the memory for a runtime's first timed wait cannot be allocated.
    template <class Rep, class Period>
    [[nodiscard]] bool try_send_for(T &&value, const std::chrono::duration<Rep, Period> &duration) {
        return send_within(value, detail::wait_limits(detail::deadline_after(duration))) == sending::done;
    }
    /// As try_send_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_send_until(T &&value, const std::chrono::time_point<Clock, Duration> &time) {
        sending result = sending::not_yet;
        detail::attempt_until(time, [&](auto deadline) {
            result = send_within(value, detail::wait_limits(deadline));
            return result != sending::not_yet;
        });
        return result == sending::done;
    }

    /// Waits for a value and takes it; empty if the channel is closed and drained.
    std::optional<T> receive() {
        std::optional<T> value;
        receive_within(value, detail::wait_limits());
        return value;
    }
    /// Like receive; also empty if a stop is requested.
    [[nodiscard]] std::optional<T> receive(const std::stop_token &stop) {
        std::optional<T> value;
        receive_within(value, detail::wait_limits(stop));
        return value;
    }
    /// Takes a value only if there is one or a sender waits; empty otherwise. Does not suspend.
    [[nodiscard]] std::optional<T> try_receive() noexcept {
        std::optional<T> value;
        lock_.lock();
        receive_now(value);
        return value;
    }
    /// Like receive; also empty on timeout. Throws std::system_error if the memory for a runtime's
    /// first timed wait cannot be allocated.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T> try_receive_for(const std::chrono::duration<Rep, Period> &duration) {
        std::optional<T> value;
        receive_within(value, detail::wait_limits(detail::deadline_after(duration)));
        return value;
    }
    /// As try_receive_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T> try_receive_until(const std::chrono::time_point<Clock, Duration> &time) {
        std::optional<T> value;
        detail::attempt_until(
            time, [&](auto deadline) { return receive_within(value, detail::wait_limits(deadline)); });
        return value;
    }

    /// Closes the channel: nothing can be sent any more; waiting senders return false and waiting receivers
    /// return empty; remaining values can still be received. Does not suspend. A second close has no effect.
    void close() noexcept {
        detail::wait_chain all;
        lock_.lock();
        closed_ = true;
        all.add_all(senders_);
        all.add_all(receivers_);
        lock_.unlock();
        all.grant();
    }
    /// True if close was called. Does not suspend.
    [[nodiscard]] bool closed() const noexcept {
        const std::lock_guard guard(lock_);
        return closed_;
    }

  private:
    enum class sending { done, closed, not_yet };

    T *slot(std::size_t at) const noexcept { return slots_ + at % capacity_; }

    /// Called with the lock held; releases it unless there is no room yet.
    sending place(T &value) noexcept {
        const sending result = closed_ ? sending::closed : sending::done;
        detail::waiter *const served = closed_ ? nullptr : receivers_.pop();
        if (served)
            static_cast<std::optional<T> *>(served->subject)->emplace(std::move(value));
        else if (!closed_ && size_ < capacity_)
            std::construct_at(slot(first_ + size_++), std::move(value));
        else if (!closed_)
            return sending::not_yet;
        lock_.unlock();
        if (served)
            served->grant();
        return result;
    }
    sending send_within(T &value, const detail::wait_limits &limits) {
        lock_.lock();
        if (const sending result = place(value); result != sending::not_yet)
            return result;
        detail::waiter self;
        self.subject = std::addressof(value);
        if (!detail::wait_in({"channel (to send)", this}, lock_, senders_, self, limits))
            return sending::not_yet;
        return self.tag != 0 ? sending::done : sending::closed;
    }

    /// Called with the lock held; releases it.
    void receive_now(std::optional<T> &value) noexcept {
        detail::waiter *served = nullptr;
        if (size_ != 0) {
            T *oldest = slot(first_);
            value.emplace(std::move(*oldest));
            std::destroy_at(oldest);
            first_ = (first_ + 1) % capacity_;
            --size_;
            if ((served = senders_.pop())) // it has waited for this slot
                std::construct_at(slot(first_ + size_++), std::move(*static_cast<T *>(served->subject)));
        } else if ((served = senders_.pop())) {
            value.emplace(std::move(*static_cast<T *>(served->subject)));
        }
        if (served)
            served->tag = 1;
        lock_.unlock();
        if (served)
            served->grant();
    }
    /// Returns false if the limits were reached. Otherwise a value came, or the channel is closed and
    /// drained.
    bool receive_within(std::optional<T> &value, const detail::wait_limits &limits) {
        lock_.lock();
        if (size_ != 0 || !senders_.empty() || closed_) {
            receive_now(value);
            return true;
        }
        detail::waiter self;
        self.subject = &value;
        return detail::wait_in({"channel (to receive)", this}, lock_, receivers_, self, limits);
    }

    const std::size_t capacity_;
    T *const slots_;
    mutable detail::spin_lock lock_;
    bool closed_ = false;
    std::size_t first_ = 0, size_ = 0;
    detail::wait_list senders_, receivers_;
};

} // namespace fult
