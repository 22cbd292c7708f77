// The solver on several ranks: each has a part of the rows. Rank 0 tells of it.
#include <cmath>
#include <cstdio>

#include "apps/support/task_runtime.hpp"
#include "program.hpp"
#include "ranks_execution.hpp"

namespace {

using namespace hpccg;

// The larger one; a number that is none wins.
constexpr auto larger = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };

int solve_together(fult::comm::context &ranks, const command_line &wanted) {
    if (!wanted.points || !wanted.written_file.empty())
        throw failure("several ranks solve grids only; give nx ny nz, without --write");
    const grid &points = *wanted.points;
    const ranks_execution execution(ranks.world(), points);
    const problem given = make_problem(execution, points, execution.rows());
    const result found = solve(execution, given, wanted.iterations);
    verdict checked = compare(found.x, given.solution);
    fult::comm::endpoint &all = ranks.world();
    checked.difference = fult::comm::allreduce(all, checked.difference, larger);
    checked.scale = fult::comm::allreduce(all, checked.scale, larger);
    const unsigned workers = fult::comm::allreduce(all, execution.workers(), std::plus<>{});
    if (ranks.rank() != 0)
        return checked.right() ? 0 : 1;
    const dimensions whole{given.nx, given.ny, given.nz, points.rows(), points.entries()};
    print_residuals(stdout, found, wanted.iterations);
    print_report(stdout, execution.name, ranks.size(), workers, whole, found, checked);
    std::fflush(stdout);
    if (!wanted.residuals_file.empty())
        write_residuals(wanted.residuals_file, found);
    if (!checked.right())
        std::fprintf(stderr,
                     "hpccg: the solution is off by %g after %d iterations; more --iterations may help\n",
                     checked.difference, found.iterations);
    return checked.right() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, true, [](const command_line &wanted) {
        const fult::runtime runtime = apps::start_runtime(wanted.workers);
        fult::comm::context ranks;
        return solve_together(ranks, wanted);
    });
}
