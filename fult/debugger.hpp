// What a debugger must know to find the tasks of a process, or of its core file, without debug information
// (tools/gdb/fult.py).
#pragma once

#include <cstdint>

namespace fult::detail {

struct team;

// The exported symbol fult_debug says where the homes of the team are, and where in them what lies.
void tell_debugger(const team &crew) noexcept;
void tell_debugger_of_none() noexcept;

} // namespace fult::detail
