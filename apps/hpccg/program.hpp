// The frame of the programs: they differ in what runs their loops.
#pragma once

#include <cstdio>

#include "apps/support/run_program.hpp"
#include "command_line.hpp"
#include "matrix_file.hpp"
#include "report.hpp"

namespace hpccg {

// The work itself. Returns the exit status; throws a failure.
template <class Execution> int run(const Execution &execution, const command_line &wanted) {
    const problem given =
        wanted.points
            ? make_problem(execution, *wanted.points)
            : read_problem(wanted.matrix_file, [&](problem &made) { touch_problem(execution, made); });
    if (!wanted.written_file.empty())
        write_problem(wanted.written_file, given);
    const result found = solve(execution, given, wanted.iterations);
    const verdict checked = compare(found.x, given.solution);
    print_residuals(stdout, found, wanted.iterations);
    print_report(stdout, Execution::name, 0, execution.workers(), dimensions_of(given), found, checked);
    std::fflush(stdout);
    if (!wanted.residuals_file.empty())
        write_residuals(wanted.residuals_file, found);
    if (checked.right())
        return 0;
    std::fprintf(
        stderr,
        "hpccg: the solution is off by %g after %d iterations (the largest exact number is %g, and it may be "
        "off by 1e-8 of that); more --iterations may help\n",
        checked.difference, found.iterations, checked.scale);
    return 1;
}

// `start` is called with what the user wants, and calls run.
template <class Start> int program_main(int argc, char **argv, bool several_workers, const Start &start) {
    const auto read = [&](command_line &wanted) {
        return read_command_line(argc, argv, several_workers, wanted);
    };
    return apps::run_program<command_line>("hpccg", read, start);
}

} // namespace hpccg
