// Copying between the memory of two processes: process_vm_readv(2). The other process does nothing for it,
// and may be stopped or killed at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace fult::comm::detail {

enum class direction { here, there };

// 0, or what errno says: ESRCH where that process has ended, EFAULT where it has no such memory, EPERM where
// this is not allowed. Part of it may have been copied then.
int copy_between(pid_t process, std::uint64_t remote, void *local, std::size_t size, direction to) noexcept;

// Lets the other ranks copy on systems that restrict it to parents (Yama's ptrace_scope of 1, prctl(2):
// PR_SET_PTRACER). The permission goes to one process and what descends from it: fult-run, else this
// process's parent, which is the launcher's process on this host. Other processes of the user stay locked
// out, and where nothing is restricted nothing is changed. Where a rank is no descendant, its copies fail and
// messages go in parts.
void allow_copying() noexcept;

} // namespace fult::comm::detail
