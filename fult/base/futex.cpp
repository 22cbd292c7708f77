#include "futex.hpp"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fult::detail {

void futex_wait(const std::atomic<std::uint32_t> &word, std::uint32_t seen,
                const std::chrono::steady_clock::time_point *deadline) noexcept {
    const int saved = errno;
    timespec until{};
    if (deadline) { // absolute, on the monotonic clock, which steady_clock is
        const auto nanoseconds =
            std::chrono::duration_cast<std::chrono::nanoseconds>(deadline->time_since_epoch()).count();
        if (nanoseconds <= 0)
            return;
        until = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    }
    ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline ? &until : nullptr, nullptr,
              FUTEX_BITSET_MATCH_ANY);
    errno = saved;
}

void futex_wake(const std::atomic<std::uint32_t> *word) noexcept {
    const int saved = errno;
    ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    errno = saved;
}

} // namespace fult::detail
