// Waiting for file descriptors: sockets, pipes and whatever else poll(2) knows. The task is suspended, and
// its worker runs others.
//
//     while ((count = ::recv(socket, data, size, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
//         fult::wait_readable(socket);
//
// Any number of tasks may wait for a descriptor, for reading and for writing. It should not block (O_NONBLOCK
// or MSG_DONTWAIT): between the end of a wait and the call that follows another task may have taken what was
// there, and where a descriptor's number is used again at once a wait may end early. What poll(2) has no
// waiting for, as a regular file, is ready at once. All of these are for any thread: on a foreign one they
// block it.
//
// Throws, each of them: std::system_error where the descriptor is not open, where a runtime's first wait
// lacks memory or descriptors of its own, or where the kernel allows no more of them
// (fs.epoll.max_user_watches).
#pragma once

#include <chrono>
#include <stop_token>

#include <fult/sync/waiter.hpp>

namespace fult {

// How a wait for a descriptor ended.
enum class wait_status {
    ready,     // what was waited for will not block, or has failed: the call tells
    timed_out, // the time has passed before
    stopped,   // a stop was requested before
    closed,    // by close_descriptor
};

namespace detail {
enum class direction : int { reading, writing };
FULT_API wait_status wait_descriptor(int descriptor, direction what, const wait_limits &limits);

template <class Clock, class Duration>
wait_status wait_descriptor_until(int descriptor, direction what, const std::stop_token *stop,
                                  const std::chrono::time_point<Clock, Duration> &time) {
    wait_status status = wait_status::timed_out;
    attempt_until(time, [&](auto deadline) {
        status =
            wait_descriptor(descriptor, what, stop ? wait_limits(*stop, deadline) : wait_limits(deadline));
        return status != wait_status::timed_out;
    });
    return status;
}
} // namespace detail

// Suspends the task until something can be read, the other side has closed, or the descriptor has failed:
// ready; or until it is closed by close_descriptor.
inline wait_status wait_readable(int descriptor) {
    return detail::wait_descriptor(descriptor, detail::direction::reading, detail::wait_limits());
}
// The same, until a stop is requested at most.
inline wait_status wait_readable(int descriptor, const std::stop_token &stop) {
    return detail::wait_descriptor(descriptor, detail::direction::reading, detail::wait_limits(stop));
}
// The same, for so long at most; with zero it only looks.
template <class Rep, class Period>
wait_status wait_readable_for(int descriptor, const std::chrono::duration<Rep, Period> &duration) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, nullptr,
                                         detail::deadline_after(duration));
}
// Until either.
template <class Rep, class Period>
wait_status wait_readable_for(int descriptor, const std::chrono::duration<Rep, Period> &duration,
                              const std::stop_token &stop) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, &stop,
                                         detail::deadline_after(duration));
}
// Until a time of any clock at most.
template <class Clock, class Duration>
wait_status wait_readable_until(int descriptor, const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, nullptr, time);
}
// Until either.
template <class Clock, class Duration>
wait_status wait_readable_until(int descriptor, const std::chrono::time_point<Clock, Duration> &time,
                                const std::stop_token &stop) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, &stop, time);
}

// As wait_readable, until something can be written, or a connection that was begun is there or has failed.
inline wait_status wait_writable(int descriptor) {
    return detail::wait_descriptor(descriptor, detail::direction::writing, detail::wait_limits());
}
// The same, until a stop is requested at most.
inline wait_status wait_writable(int descriptor, const std::stop_token &stop) {
    return detail::wait_descriptor(descriptor, detail::direction::writing, detail::wait_limits(stop));
}
// The same, for so long at most; with zero it only looks.
template <class Rep, class Period>
wait_status wait_writable_for(int descriptor, const std::chrono::duration<Rep, Period> &duration) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, nullptr,
                                         detail::deadline_after(duration));
}
// Until either.
template <class Rep, class Period>
wait_status wait_writable_for(int descriptor, const std::chrono::duration<Rep, Period> &duration,
                              const std::stop_token &stop) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, &stop,
                                         detail::deadline_after(duration));
}
// Until a time of any clock at most.
template <class Clock, class Duration>
wait_status wait_writable_until(int descriptor, const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, nullptr, time);
}
// Until either.
template <class Clock, class Duration>
wait_status wait_writable_until(int descriptor, const std::chrono::time_point<Clock, Duration> &time,
                                const std::stop_token &stop) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, &stop, time);
}

// Ends the waits of tasks for a descriptor, which see `closed`, and closes it. Of a close(2) alone they would
// hear nothing. Returns what close(2) does, and sets errno. From any thread; does not suspend.
FULT_API int close_descriptor(int descriptor) noexcept;

} // namespace fult
