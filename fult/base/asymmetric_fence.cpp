#include "asymmetric_fence.hpp"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.hpp"

namespace fult::detail {
namespace {

bool register_process() noexcept {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// A process with one thread is registered in a microsecond, one with more in 8 to 20 ms (Linux 6.18): the
// kernel waits until each processor has switched. So it is done before the program starts threads.
[[gnu::constructor]] void register_at_load() noexcept { register_process(); }

} // namespace

bool asymmetric_fence_available() noexcept {
    static const bool available = register_process();
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
