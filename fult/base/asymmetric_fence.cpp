#include "asymmetric_fence.hpp"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.hpp"

namespace fult::detail {

bool asymmetric_fence_available() noexcept {
    static const bool available =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    return available;
}

void asymmetric_fence() noexcept {
    const int saved = errno;
    if (::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        fatal("asymmetric_fence",
              "membarrier fails with errno %d although its registration succeeded; "
              "set FULT_PRIVATE_WORDS=off to do without it",
              errno);
    errno = saved;
}

} // namespace fult::detail
