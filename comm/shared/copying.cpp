#include "comm/shared/copying.hpp"

#include <cerrno>
#include <sys/prctl.h>
#include <sys/uio.h>

namespace fult::comm::detail {

int copy_between(pid_t process, std::uint64_t remote, void *local, std::size_t size, direction to) noexcept {
    auto *here = static_cast<std::byte *>(local);
    while (size != 0) {
        const iovec ours{here, size};
        const iovec theirs{reinterpret_cast<void *>(remote), size}; // NOLINT(performance-no-int-to-ptr)
        const ssize_t copied = to == direction::here ? ::process_vm_readv(process, &ours, 1, &theirs, 1, 0)
                                                     : ::process_vm_writev(process, &ours, 1, &theirs, 1, 0);
        if (copied < 0)
            return errno;
        if (copied == 0)
            return EFAULT;
        // fewer where memory ends, which the next turn says
        here += copied;
        remote += static_cast<std::uint64_t>(copied);
        size -= static_cast<std::size_t>(copied);
    }
    return 0;
}

void allow_copying() noexcept {
    const int saved = errno;
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); // no such thing without Yama, and no need of it
    errno = saved;
}

} // namespace fult::comm::detail
