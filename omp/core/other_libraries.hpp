#pragma once

namespace fult::omp {

// Says once, on the standard error, that the process has another OpenMP library beside this one: regions of
// what is linked to it have threads of their own. From any thread, also while the loader runs constructors.
void report_other_libraries() noexcept;

} // namespace fult::omp
