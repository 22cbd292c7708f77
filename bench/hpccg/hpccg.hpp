// The solver of apps/hpccg as a benchmark: conjugate gradients on a cube of points. The matrix is made before
// time is taken.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "../../apps/hpccg/grid.hpp"
#include "../../apps/hpccg/solver.hpp"
#include "common/arguments.hpp"
#include "common/kernel.hpp"

namespace bench::hpccg {

// make(workers) is called in the runtime and returns the execution of the loops.
template <class Make> int hpccg_main(int argc, char **argv, const version &how, Make make) {
    kernel_settings settings;
    unsigned size = 64;
    arguments line("hpccg: conjugate gradients on a grid of N x N x N points.");
    line.option("-n,--size", size, "points along an edge");
    settings.declare(line);
    line.parse(argc, argv);

    std::optional<::hpccg::problem> given;
    std::optional<::hpccg::result> found;
    job work;
    work.benchmark = "hpccg";
    work.name = std::to_string(size);
    work.warm_up = [&] {
        const auto execution = make(settings.workers);
        given = ::hpccg::make_problem(execution, ::hpccg::grid(size, size, size));
        found = ::hpccg::solve(execution, *given, 3);
    };
    work.compute = [&] { found = ::hpccg::solve(make(settings.workers), *given); };
    work.check = [&]() -> std::string {
        const ::hpccg::verdict checked = ::hpccg::compare(found->x, given->solution);
        if (checked.right())
            return {};
        return "the solution is off by " + std::to_string(checked.difference);
    };
    // Loops over all rows.
    work.done = [&] { return std::uint64_t(found->iterations) * 6; };
    return run_kernel(how, settings, work);
}

} // namespace bench::hpccg
