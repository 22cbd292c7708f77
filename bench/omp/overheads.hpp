// Costs of constructs by EPCC's definitions (Bull, EWOMP 1999): the time of a construct around a delay, less
// that of the delay alone on one thread.
#pragma once

#include "common/kernel.hpp"

namespace bench::omp {

// Prints a record for each construct, and returns the exit status.
int measure_overheads(const kernel_settings &settings);

} // namespace bench::omp
