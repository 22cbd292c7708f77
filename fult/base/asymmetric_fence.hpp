// The heavy side of an asymmetric fence: membarrier. The light side is a compiler barrier (owner_barrier in
// fast_path.hpp).
#pragma once

namespace fult::detail {

// True if the system supports it (Linux 4.14 or later); registers the process. Otherwise private words are
// not used.
bool asymmetric_fence_available() noexcept;

// When it returns, every thread of this process has passed a full memory barrier. About a microsecond.
void asymmetric_fence() noexcept;

} // namespace fult::detail
