#include "report.hpp"

#include <cstddef>

#include "statistics.hpp"

namespace bfs {
namespace {

void print_statistics(std::FILE *out, const char *of, const char *kind, const statistics &found) {
    std::fprintf(out, "min_%s: %.9g\n", of, found.minimum);
    std::fprintf(out, "firstquartile_%s: %.9g\n", of, found.first_quartile);
    std::fprintf(out, "median_%s: %.9g\n", of, found.median);
    std::fprintf(out, "thirdquartile_%s: %.9g\n", of, found.third_quartile);
    std::fprintf(out, "max_%s: %.9g\n", of, found.maximum);
    std::fprintf(out, "%smean_%s: %.9g\n", kind, of, found.mean);
    std::fprintf(out, "%sstddev_%s: %.9g\n", kind, of, found.deviation);
}

} // namespace

void print_report(std::FILE *out, apps::version of, int ranks, const command_line &wanted,
                  const measured &found) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < found.seconds.size(); ++i)
        rates.push_back(found.edges[i] / found.seconds[i]);
    const statistics seconds = describe(found.seconds), speed = describe_rates(rates);
    std::fprintf(out, "SCALE: %d\nedgefactor: %d\nNBFS: %zu\n", wanted.scale, wanted.edgefactor,
                 found.seconds.size());
    std::fprintf(out, "construction_time: %.9g\n", found.construction);
    print_statistics(out, "k2time", "", seconds);
    print_statistics(out, "k2nedge", "", describe(found.edges));
    print_statistics(out, "k2TEPS", "harmonic_", speed);
    std::fprintf(out, "NSSSP: 0\nexecution: %s\nranks: %d\nseed: %llu\nvalidation: %s\n", apps::execution(of),
                 ranks, static_cast<unsigned long long>(wanted.seed),
                 wanted.validates ? "passed by each search, all five rules against the edge list"
                                  : "skipped");
    std::fprintf(out,
                 "result: program=%s scale=%d edgefactor=%d ranks=%d searches=%zu seconds=%.9g teps=%.9g "
                 "verified=%s\n",
                 apps::program_name("bfs", of).c_str(), wanted.scale, wanted.edgefactor, ranks,
                 found.seconds.size(), seconds.mean, speed.mean, wanted.validates ? "yes" : "no");
}

} // namespace bfs
