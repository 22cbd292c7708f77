// The processors in groups by the part of the machine that they share. Internal: for libraries of this
// project that bind threads themselves.
#pragma once

#include <vector>

#include <fult/detail/platform.hpp>

namespace fult::detail {

enum class processor_level { thread, core, last_cache, numa_node, package };

// For each part of the machine at this level, the processors there that the calling thread may use, by
// their numbers in the system. Throws std::system_error if the machine cannot be discovered. From any
// thread.
FULT_API std::vector<std::vector<unsigned>> processor_groups(processor_level level);

} // namespace fult::detail
