#include "report.hpp"

#include "apps/support/text_file.hpp"

namespace monte_carlo {
namespace {

using number = unsigned long long;

std::uint64_t ended(const tally &of) {
    return of[tally::absorbed] + of[tally::leaked_front] + of[tally::leaked_back];
}

} // namespace

std::string wrong(const problem &of, const outcome &found) {
    const tally &all = found.found;
    if (all[tally::born] != of.particles || ended(all) != of.particles)
        return "particles are not conserved: " + std::to_string(all[tally::born]) + " of " +
               std::to_string(of.particles) + " were born, and " + std::to_string(ended(all)) +
               " were absorbed or have leaked";
    if (all.of_all_groups() != all.of_all_slices())
        return "the flux by energy has another sum than the flux by depth";
    if (found.expected && all != *found.expected)
        return "the tallies differ from those of one particle after the other in one thread";
    return {};
}

const char *scheme_of(apps::version by, const command_line &wanted) {
    if (by == apps::version::serial)
        return "serial";
    return name_of(by == apps::version::processes ? scheme::dedicated : wanted.how);
}

void print_report(std::FILE *out, apps::version by, int ranks, const command_line &wanted,
                  const outcome &found) {
    const problem &of = wanted.given;
    const tally &all = found.found;
    const bool right = wrong(of, found).empty();
    std::fprintf(out, "particles: %llu\nbands: %u\nintervals of a band: %u\nnuclides: %u\n",
                 number(of.particles), of.bands, of.points, of.nuclides);
    std::fprintf(out, "thickness: %g cm\nseed: %llu\n", of.thickness, number(of.seed));
    std::fprintf(out, "execution: %s\nscheme: %s\nranks: %d\n", apps::execution(by), scheme_of(by, wanted),
                 ranks);
    std::fprintf(out, "seconds: %.6g\n", found.seconds);
    if (found.spent.sweeps != 0)
        std::fprintf(out, "sweeps of rank 0: %u\n", found.spent.sweeps);
    if (found.spent.sweeps != 0 && by != apps::version::serial)
        std::fprintf(out, "seconds that rank 0 waited for tables: %.6g\n", found.spent.waiting);
    if (by != apps::version::serial)
        std::fprintf(out, "tables sent to rank 0: %llu\n", number(found.spent.transfers));
    std::fprintf(out, "collisions a particle: %.6g\n", double(all[tally::collisions]) / double(of.particles));
    std::fprintf(out, "absorbed: %llu\nleaked at the front: %llu\nleaked at the back: %llu\n",
                 number(all[tally::absorbed]), number(all[tally::leaked_front]),
                 number(all[tally::leaked_back]));
    std::fprintf(out, "verification: %s; particles are conserved, and both fluxes have one sum%s\n",
                 right ? "passed" : "failed",
                 found.expected ? "; the tallies are compared with those of one thread"
                                : "; the tallies are not compared: --no-check");
    std::fprintf(out,
                 "result: program=%s scheme=%s particles=%llu ranks=%d seconds=%.9g collisions=%llu "
                 "absorbed=%llu leaked=%llu checksum=%016llx verified=%s\n",
                 apps::program_name("monte_carlo", by).c_str(), scheme_of(by, wanted), number(of.particles),
                 ranks, found.seconds, number(all[tally::collisions]), number(all[tally::absorbed]),
                 number(all[tally::leaked_front] + all[tally::leaked_back]), number(all.checksum()),
                 right ? "yes" : "no");
}

void write_tallies(const std::string &path, const problem &of, const tally &found) {
    const apps::open_file file = apps::open_text(path, "w");
    const double units = tally::units * double(of.particles);
    const double group = most_lethargy / tally::groups, slice = of.thickness / tally::slices;
    for (unsigned i = tally::groups; i-- > 0;) // the lowest energy first
        std::fprintf(file.get(), "energy %.9g %.9g %.9g\n", energy_at((i + 1) * group), energy_at(i * group),
                     double(found.of_group(i)) / units / group);
    for (unsigned i = 0; i < tally::slices; ++i)
        std::fprintf(file.get(), "depth %.9g %.9g %.9g\n", i * slice, (i + 1) * slice,
                     double(found.of_slice(i)) / units / slice);
    apps::finish_writing(file, path);
}

} // namespace monte_carlo
