#include "report.hpp"

#include <algorithm>

#include "apps/support/text_file.hpp"

namespace hpccg {
namespace {
// Operations of floating-point numbers. The original counts 27 entries in each row, those at the border too;
// here each entry that exists is counted.
struct operations {
    double ddot, waxpby, sparsemv;
    double total() const { return ddot + waxpby + sparsemv; }
};

operations count(const dimensions &of, int iterations) {
    const double rows = double(of.rows), entries = double(of.entries);
    return {iterations * 4.0 * rows, iterations * 6.0 * rows, iterations * 2.0 * entries};
}

void print_summary(std::FILE *out, const char *title, double total, double ddot, double waxpby,
                   double sparsemv) {
    std::fprintf(out, "%s: \n  Total   : %g\n  DDOT    : %g\n  WAXPBY  : %g\n  SPARSEMV: %g\n", title, total,
                 ddot, waxpby, sparsemv);
}

double mega_each_second(double operations, double seconds) {
    return seconds > 0 ? operations / seconds / 1e6 : 0;
}
} // namespace

int shown_each(int iterations) { return std::clamp((iterations + 1) / 10, 1, 50); }

void print_residuals(std::FILE *out, const result &found, int iterations) {
    std::fprintf(out, "Initial Residual = %g\n", found.residuals[0]);
    const int each = shown_each(iterations);
    for (int k = 1; k <= found.iterations; ++k)
        if (k % each == 0 || k == found.iterations)
            std::fprintf(out, "Iteration = %d   Residual = %g\n", k, found.residuals[std::size_t(k)]);
}

void print_report(std::FILE *out, const char *execution, int ranks, unsigned workers, const dimensions &of,
                  const result &found, const verdict &checked) {
    std::fprintf(out, "Mini-Application Name: hpccg\nMini-Application Version: 1.0\nParallelism: \n");
    std::fprintf(out, "  Execution: %s\n", execution);
    if (ranks != 0)
        std::fprintf(out, "  Number of ranks: %d\n", ranks);
    std::fprintf(out, "  Number of workers: %u\n", workers);
    std::fprintf(out, "Dimensions: \n  nx: %lld\n  ny: %lld\n  nz: %lld\n", static_cast<long long>(of.nx),
                 static_cast<long long>(of.ny), static_cast<long long>(of.nz));
    std::fprintf(out, "  rows: %lld\n  entries: %lld\n", static_cast<long long>(of.rows),
                 static_cast<long long>(of.entries));
    std::fprintf(out, "Number of iterations: %d\nFinal residual: %g\n", found.iterations,
                 found.final_residual());
    const operations done = count(of, found.iterations);
    const seconds &times = found.times;
    print_summary(out, "Time Summary", times.total, times.ddot, times.waxpby, times.sparsemv);
    print_summary(out, "FLOPS Summary", done.total(), done.ddot, done.waxpby, done.sparsemv);
    print_summary(out, "MFLOPS Summary", mega_each_second(done.total(), times.total),
                  mega_each_second(done.ddot, times.ddot), mega_each_second(done.waxpby, times.waxpby),
                  mega_each_second(done.sparsemv, times.sparsemv));
    std::fprintf(out, "Difference between computed and exact: %g\nVerification: %s\n", checked.difference,
                 checked.right() ? "passed" : "failed");
}

void write_residuals(const std::string &path, const result &found) {
    const apps::open_file out = apps::open_text(path, "w");
    for (std::size_t k = 0; k < found.residuals.size(); ++k)
        std::fprintf(out.get(), "%zu %.17g\n", k, found.residuals[k]);
    apps::finish_writing(out, path);
}

} // namespace hpccg
