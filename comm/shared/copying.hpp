// Copies between the memory of two processes: process_vm_readv(2). The other process takes no part and may be
// stopped or killed at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace fult::comm::detail {

enum class direction { read, write };

// 0, or an errno: ESRCH if that process has ended, EFAULT if it has no such memory, EPERM if it is not
// permitted. A part may have been copied then.
int copy_between(pid_t process, std::uint64_t remote, void *local, std::size_t size, direction way) noexcept;

// Permits copies by the other ranks on systems that restrict them to parents (Yama's ptrace_scope of 1,
// prctl(2): PR_SET_PTRACER). The permission covers one process and its descendants: fult-run, else this
// process's parent, which is the launcher's process on this host. The user's other processes remain excluded,
// and unrestricted systems are not changed. Copies by a rank that is no descendant fail, and its messages are
// sent in parts.
void allow_copying() noexcept;

} // namespace fult::comm::detail
