#include "report.hpp"

#include <algorithm>

namespace sptrsv {
namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

long long number(std::int64_t value) { return static_cast<long long>(value); }

} // namespace

void print_report(std::FILE *out, apps::version by, int ranks, const outcome &found) {
    const double middle = median(found.seconds);
    const double best = *std::min_element(found.seconds.begin(), found.seconds.end());
    const std::int64_t widest = *std::max_element(found.levels.begin(), found.levels.end());
    const double parallelism = double(found.rows) / double(found.levels.size());
    const char *const right = found.checked.right() ? "yes" : "no";
    std::fprintf(out, "system: %s\nrows: %lld\nentries: %lld\n", found.system.c_str(), number(found.rows),
                 number(found.entries));
    std::fprintf(out, "levels: %zu, of %.1f rows on average, %lld at most\n", found.levels.size(),
                 parallelism, number(widest));
    std::fprintf(out, "execution: %s\nranks: %d\n", apps::execution(by), ranks);
    std::fprintf(out, "tasks and messages of a solve: %lld, %lld\n", number(found.tasks),
                 number(found.messages));
    std::fprintf(out, "seconds of a solve: %.9f, at best %.9f, of %zu\n", middle, best, found.seconds.size());
    std::fprintf(out, "difference from the serial solution: %.3g, %.2g of what rounding can do\n",
                 found.checked.difference, found.checked.difference_share);
    std::fprintf(out, "residual: %.3g of |L||x|, %.2g of what rounding can do\n", found.checked.residual,
                 found.checked.residual_share);
    std::fprintf(out,
                 "verification: %s: each solution, all rows, against the serial one and by the residual\n",
                 found.checked.right() ? "passed" : "failed");
    std::fprintf(out,
                 "result: program=%s rows=%lld entries=%lld levels=%zu ranks=%d tasks=%lld messages=%lld "
                 "solves=%zu seconds=%.9f best=%.9f difference=%.3g residual=%.3g verified=%s\n",
                 apps::program_name("sptrsv", by).c_str(), number(found.rows), number(found.entries),
                 found.levels.size(), ranks, number(found.tasks), number(found.messages),
                 found.seconds.size(), middle, best, found.checked.difference, found.checked.residual, right);
}

} // namespace sptrsv
