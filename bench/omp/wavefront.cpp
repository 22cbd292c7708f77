// The cheapest way through a grid, right or down: a task a cell, which depends on those above and to the
// left.
#include <algorithm>
#include <memory>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

struct grid {
    std::size_t n;
    std::vector<std::uint64_t> costs, ways; // ways has a border above and to the left
    std::uint64_t &way(std::size_t i, std::size_t j) { return ways[i * (n + 1) + j]; }
};

grid make_grid(std::size_t n) {
    grid g{n, std::vector<std::uint64_t>(n * n),
           std::vector<std::uint64_t>((n + 1) * (n + 1), ~std::uint64_t{0} / 2)};
    numbers random(29);
    for (std::uint64_t &each : g.costs)
        each = random.next() % 1000;
    g.way(0, 1) = 0;
    return g;
}

void find_ways(grid &g) {
    for (std::size_t i = 1; i <= g.n; ++i)
        for (std::size_t j = 1; j <= g.n; ++j) {
            const std::uint64_t cost = g.costs[(i - 1) * g.n + j - 1];
            const std::uint64_t *const above = &g.way(i - 1, j), *const left = &g.way(i, j - 1);
            std::uint64_t *const here = &g.way(i, j);
#pragma omp task depend(in : *above, *left) depend(out : *here)
            *here = cost + std::min(*above, *left);
        }
#pragma omp taskwait
}

std::uint64_t cheapest_serially(grid &g) {
    for (std::size_t i = 1; i <= g.n; ++i)
        for (std::size_t j = 1; j <= g.n; ++j)
            g.way(i, j) = g.costs[(i - 1) * g.n + j - 1] + std::min(g.way(i - 1, j), g.way(i, j - 1));
    return g.way(g.n, g.n);
}

struct data {
    grid cells;
    std::uint64_t right = 0;
};

} // namespace

job wavefront(unsigned size) {
    auto d = std::make_shared<data>();
    d->cells = make_grid(size);
    d->right = cheapest_serially(d->cells);
    d->cells = make_grid(size);
    job work;
    work.tasks = std::uint64_t{size} * size;
    work.warm_up = [] {
        grid small = make_grid(16);
        find_ways(small);
    };
    work.compute = [d] { find_ways(d->cells); };
    work.check = [d, size] {
        const std::uint64_t found = d->cells.way(size, size);
        d->cells = make_grid(size);
        return found == d->right ? std::string()
                                 : std::to_string(found) + " instead of " + std::to_string(d->right);
    };
    return work;
}

} // namespace bench::omp
