// What is told of a run: the residuals, and the fields of the original's report.
#pragma once

#include <cstdio>
#include <string>

#include "solver.hpp"

namespace hpccg {

// Every so many iterations a residual is shown, the last one always.
int shown_each(int iterations);

void print_residuals(std::FILE *out, const result &found, int iterations);

// What is told of the system, all of it.
struct dimensions {
    std::int64_t nx, ny, nz, rows, entries;
};
inline dimensions dimensions_of(const problem &given) {
    return {given.nx, given.ny, given.nz, given.rows(), given.matrix.entries()};
}

// `ranks`: 0 where there are none.
void print_report(std::FILE *out, const char *execution, int ranks, unsigned workers, const dimensions &of,
                  const result &found, const verdict &checked);

// A line for each iteration: its number and the residual with all digits. Throws a failure that names the
// file.
void write_residuals(const std::string &path, const result &found);

} // namespace hpccg
