#include "comm/shared/copying.hpp"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string_view>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fult/detail/address.hpp>

#include "fult/base/numbers.hpp"

namespace fult::comm::detail {
namespace {

// Yama: a process may be traced by its ancestors and by processes that it names. Other values allow all, or
// none.
bool names_its_tracers() {
    int scope = 0;
    std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
    return scope == 1;
}

// FULT_RUN_JOB begins with the process id of fult-run.
pid_t launcher() noexcept {
    const char *const given = std::getenv("FULT_RUN_JOB");
    std::string_view job = given ? given : "";
    const long named = fult::detail::leading_number<long>(job).value_or(0);
    const pid_t process = named > 0 ? static_cast<pid_t>(named) : ::getppid();
    return process > 1 ? process : 0; // all processes descend from the first one
}

} // namespace

int copy_between(pid_t process, std::uint64_t remote, void *local, std::size_t size, direction way) noexcept {
    auto *here = static_cast<std::byte *>(local);
    while (size != 0) {
        const iovec ours{here, size};
        const iovec theirs{fult::detail::at_address<void>(remote), size}; // NOLINT(performance-no-int-to-ptr)
        const ssize_t copied = way == direction::read ? ::process_vm_readv(process, &ours, 1, &theirs, 1, 0)
                                                      : ::process_vm_writev(process, &ours, 1, &theirs, 1, 0);
        if (copied < 0)
            return errno;
        if (copied == 0)
            return EFAULT;
        // fewer if the memory ends; the next iteration then reports it
        here += copied;
        remote += static_cast<std::uint64_t>(copied);
        size -= static_cast<std::size_t>(copied);
    }
    return 0;
}

void allow_copying() noexcept {
    const int saved = errno;
    try {
        if (names_its_tracers())
            ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(launcher()), 0, 0, 0);
    } catch (const std::exception &) { // no memory for the lookup: long messages are sent in parts
    }
    errno = saved;
}

} // namespace fult::comm::detail
