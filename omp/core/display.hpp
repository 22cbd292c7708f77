// OMP_DISPLAY_ENV (OpenMP 5.1, section 6.12).
#pragma once

#include "icv.hpp"

namespace fult::omp {

// What a compiler's own library says without being asked.
struct compiler_facts {
    int openmp_version; // _OPENMP by default
    schedule_kind schedule;
};

void display_environment(const compiler_facts &by, bool verbose);
// As OMP_DISPLAY_ENV asks, by the first library that has been loaded.
void display_environment_at_load(const compiler_facts &by);

} // namespace fult::omp
