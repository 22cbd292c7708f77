#include "parker.hpp"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fult::detail {

void parker::wait(std::uint32_t prepared, int milliseconds) noexcept {
    timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
    const int saved = errno;
    while (posts_.load(std::memory_order_acquire) == prepared) { // pairs with post
        const long rc = ::syscall(SYS_futex, &posts_, FUTEX_WAIT_PRIVATE, prepared,
                                  milliseconds < 0 ? nullptr : &limit, nullptr, 0);
        if (rc != 0 && errno == ETIMEDOUT)
            break;
    }
    errno = saved;
}

void parker::post() noexcept {
    const int saved = errno;
    posts_.fetch_add(1, std::memory_order_release); // pairs with wait
    ::syscall(SYS_futex, &posts_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    errno = saved;
}

} // namespace fult::detail
