/// @file
/// Waiting for file descriptors: sockets, pipes and whatever else poll(2) supports. The task is suspended,
/// and its worker runs other tasks.
///
///     while ((count = ::recv(socket, data, size, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
///         fult::wait_readable(socket);
///
/// Any number of tasks may wait for a descriptor, for reading and for writing. The descriptor should not
/// block (O_NONBLOCK or MSG_DONTWAIT): another task may consume the data between the end of a wait and the
/// call that follows, and a wait may end early if a descriptor's number is closed and reused at once.
/// Descriptors that poll(2) does not wait for, such as regular files, are ready at once. All functions are
/// for any thread: on a foreign thread they block.
///
/// Each throws std::system_error if the descriptor is not open, if the memory or the descriptors for a
/// runtime's first wait cannot be allocated, or if the kernel's limit on waits is reached
/// (fs.epoll.max_user_watches).
#pragma once

#include <chrono>
#include <stop_token>

#include <fult/detail/waiter.hpp>

namespace fult {

/// The result of a wait for a descriptor.
enum class descriptor_status {
    ready,     ///< the operation will not block, or has failed: its call reports which
    timed_out, ///< the time was over first
    stopped,   ///< a stop was requested first
    closed,    ///< closed by close_descriptor
};

/// @cond internal
namespace detail {
enum class direction : int { reading, writing };
FULT_API descriptor_status wait_descriptor(int descriptor, direction what, const wait_limits &limits);

template <class Clock, class Duration>
descriptor_status wait_descriptor_until(int descriptor, direction what, const std::stop_token *stop,
                                        const std::chrono::time_point<Clock, Duration> &time) {
    descriptor_status status = descriptor_status::timed_out;
    attempt_until(time, [&](auto deadline) {
        status =
            wait_descriptor(descriptor, what, stop ? wait_limits(*stop, deadline) : wait_limits(deadline));
        return status != descriptor_status::timed_out;
    });
    return status;
}
} // namespace detail
/// @endcond

/// Suspends the task until the descriptor is readable, its peer has closed it, or it has failed (ready), or
/// until close_descriptor closes it (closed).
inline descriptor_status wait_readable(int descriptor) {
    return detail::wait_descriptor(descriptor, detail::direction::reading, detail::wait_limits());
}
/// The same; also ends when a stop is requested.
inline descriptor_status wait_readable(int descriptor, const std::stop_token &stop) {
    return detail::wait_descriptor(descriptor, detail::direction::reading, detail::wait_limits(stop));
}
/// The same, for at most the duration; zero polls once.
template <class Rep, class Period>
descriptor_status wait_readable_for(int descriptor, const std::chrono::duration<Rep, Period> &duration) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, nullptr,
                                         detail::deadline_after(duration));
}
/// Ends at whichever comes first.
template <class Rep, class Period>
descriptor_status wait_readable_for(int descriptor, const std::stop_token &stop,
                                    const std::chrono::duration<Rep, Period> &duration) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, &stop,
                                         detail::deadline_after(duration));
}
/// The same, until a time of any clock.
template <class Clock, class Duration>
descriptor_status wait_readable_until(int descriptor, const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, nullptr, time);
}
/// Ends at whichever comes first.
template <class Clock, class Duration>
descriptor_status wait_readable_until(int descriptor, const std::stop_token &stop,
                                      const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_descriptor_until(descriptor, detail::direction::reading, &stop, time);
}

/// As wait_readable, until the descriptor is writable, or its connection is established or has failed.
inline descriptor_status wait_writable(int descriptor) {
    return detail::wait_descriptor(descriptor, detail::direction::writing, detail::wait_limits());
}
/// The same; also ends when a stop is requested.
inline descriptor_status wait_writable(int descriptor, const std::stop_token &stop) {
    return detail::wait_descriptor(descriptor, detail::direction::writing, detail::wait_limits(stop));
}
/// The same, for at most the duration; zero polls once.
template <class Rep, class Period>
descriptor_status wait_writable_for(int descriptor, const std::chrono::duration<Rep, Period> &duration) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, nullptr,
                                         detail::deadline_after(duration));
}
/// Ends at whichever comes first.
template <class Rep, class Period>
descriptor_status wait_writable_for(int descriptor, const std::stop_token &stop,
                                    const std::chrono::duration<Rep, Period> &duration) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, &stop,
                                         detail::deadline_after(duration));
}
/// The same, until a time of any clock.
template <class Clock, class Duration>
descriptor_status wait_writable_until(int descriptor, const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, nullptr, time);
}
/// Ends at whichever comes first.
template <class Clock, class Duration>
descriptor_status wait_writable_until(int descriptor, const std::stop_token &stop,
                                      const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_descriptor_until(descriptor, detail::direction::writing, &stop, time);
}

/// Ends the waits of tasks and threads for a descriptor with `closed`, then closes it. A plain close(2) does
/// not end them. Returns the result of close(2) and sets errno. From any thread; does not suspend.
FULT_API int close_descriptor(int descriptor) noexcept;

} // namespace fult
