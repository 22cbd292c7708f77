// Memory for the targets of requests. A program that posts receives by the thousand would spend more time in
// allocation than in matching.
//
// Blocks of one size come in slabs, so that consecutive receives are adjacent in memory. Each thread caches a
// few; the surplus goes to a common list. Memory is kept for reuse until the program ends: at most as much as
// was in use at a time.
#pragma once

#include <fult/comm/request.hpp>

namespace fult::comm::detail {

static_assert(request_bytes % 64 == 0, "blocks begin at a cache line");

} // namespace fult::comm::detail
