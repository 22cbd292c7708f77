// Detects a process that was forked while a runtime was running (include/fult/detail/forked.hpp).
#pragma once

#include <fult/detail/forked.hpp>

namespace fult::detail {

// Registers the fork handler, once. May throw std::bad_alloc.
void watch_forks();

} // namespace fult::detail
