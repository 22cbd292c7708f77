// The processor time that control groups leave to this process (docker --cpus, systemd's CPUQuota=).
#pragma once

#include <string>

#include <fult/detail/platform.hpp>

namespace fult::detail {

// The number of processors that the least quota corresponds to, rounded up: that of the process's own group
// or of any group around it, version 1 or 2. 0 without a quota. The files are read below `root`.
unsigned processor_quota(const std::string &root);
// Of the first call, which reads a dozen files; 0 also if there is no memory to read them.
FULT_API unsigned processor_quota() noexcept;

} // namespace fult::detail
