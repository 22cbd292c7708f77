// The variables of libomp beyond OpenMP's: KMP_*. Only its programs read them.
#pragma once

#include "omp/core/icv.hpp"

namespace fult::omp::kmp {

// When the library is loaded. Says what is not understood, and what has no effect.
void read_environment(program_icvs &into);

// KMP_AFFINITY: where it means what OMP_PLACES and OMP_PROC_BIND can say, it replaces them.
void read_affinity(program_icvs &into, bool warns);

} // namespace fult::omp::kmp
