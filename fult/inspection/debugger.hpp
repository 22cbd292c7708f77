// What a debugger needs to find the tasks of a process, or of its core file, without debug information
// (tools/gdb/fult.py).
#pragma once

#include <cstdint>

namespace fult::detail {

struct worker_team;

// Fills the exported symbol fult_debug with the addresses of the team's homes and the offsets in them.
void publish_debug_table(const worker_team &team) noexcept;
void clear_debug_table() noexcept;

} // namespace fult::detail
