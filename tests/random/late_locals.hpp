// Task-local values at the end of the process.
#pragma once

#include <cstdint>

namespace random_programs {

// The destructor of a static object will use task-local values; and so do tasks and threads before
// (late_locals.cpp). Called by main before anything else has values.
void use_locals_at_the_end(std::uint64_t seed);

} // namespace random_programs
