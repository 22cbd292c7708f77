// Kernel threads of the library itself. They are started by workers, which are bound to a processor each, and
// must not share that one.
#pragma once

#include <vector>

namespace fult::comm::detail {

// For the thread itself, at its start: lets it run on all processors that the process had when this library
// was loaded, and gives it a name of at most 15 characters.
void begin_own_thread(const char *name) noexcept;

// How many those are; 0: not known.
unsigned processors_at_start() noexcept;
std::vector<unsigned> list_of_processors_at_start();

} // namespace fult::comm::detail
