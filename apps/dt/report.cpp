#include "report.hpp"

#include <cmath>

#include "features.hpp"

namespace dt {

bool verified(shape form, const problem &given, const outcome &found) {
    return std::fabs(found.checksum - verified_checksum(form, given)) < 1e-8;
}

void print_report(std::FILE *out, apps::version by, int ranks, shape form, const problem &given,
                  const graph &of, const outcome &found) {
    const double numbers = double(given.samples) * fields;
    // NAS counts numbers, in units of 2^20, and calls them bytes transmitted.
    const double transmitted = numbers * double(of.arcs().size()) / 1048576;
    const double rate = found.seconds > 0 ? transmitted / found.seconds : 0;
    std::fprintf(out, "DT_%s.%c Benchmark Completed\n", short_name(form), given.name);
    std::fprintf(out, " Class           = %24c\n", given.name);
    std::fprintf(out, " Size            = %24.0f\n", numbers);
    std::fprintf(out, " Iterations      = %24zu\n", of.nodes().size());
    std::fprintf(out, " Time in seconds = %24.6f\n", found.seconds);
    std::fprintf(out, " Total processes = %24d\n", ranks);
    std::fprintf(out, " Mop/s total     = %24.2f\n", rate);
    std::fprintf(out, " Mop/s/process   = %24.2f\n", rate / ranks);
    std::fprintf(out, " Operation type  = %24s\n", "bytes transmitted");
    std::fprintf(out, " Execution       = %24s\n", apps::execution(by));
    std::fprintf(out, " Nodes           = %24zu\n", of.nodes().size());
    std::fprintf(out, " Arcs            = %24zu\n", of.arcs().size());
    std::fprintf(out, " L2 norm         = %24.0f\n", found.checksum);
    const bool right = verified(form, given, found);
    std::fprintf(out, " Compared with   = %24s\n", "the checksum of NAS");
    std::fprintf(out, " Verification    = %24s\n", right ? "SUCCESSFUL" : "UNSUCCESSFUL");
    std::fprintf(
        out,
        "result: program=%s class=%c graph=%s ranks=%d nodes=%zu seconds=%.6f checksum=%.0f verified=%s\n",
        apps::program_name("dt", by).c_str(), given.name, short_name(form), ranks, of.nodes().size(),
        found.seconds, found.checksum, right ? "yes" : "no");
}

} // namespace dt
