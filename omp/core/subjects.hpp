// OpenMP tasks in reports and debuggers: the function of the source in which a task or a region is written.
#pragma once

#include <cstddef>

namespace fult::omp {

// Frames with this function call one of the program, whose address is at an offset in their data. Called by a
// front end when it is loaded.
void find_function_in_data(void (*function)(void *), std::size_t offset) noexcept;

} // namespace fult::omp
