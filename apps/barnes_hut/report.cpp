#include "report.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace barnes_hut {
namespace {

std::size_t first_counted(const outcome &found) { return found.seconds.size() > 2 ? 2 : 0; }

template <class Of> double mean_of_steps(const outcome &found, const Of &of) {
    double sum = 0;
    const std::size_t first = first_counted(found), last = found.seconds.size();
    for (std::size_t i = first; i < last; ++i)
        sum += of(i);
    return sum / double(last - first);
}

} // namespace

double outcome::energy_change() const { return std::abs((last_energy - first_energy) / first_energy); }

double outcome::seconds_a_step() const {
    return mean_of_steps(*this, [&](std::size_t i) { return seconds[i]; });
}

std::string wrong(const outcome &found) {
    char text[200] = "";
    // A number that is none is wrong, too.
    if (!(found.errors.mean <= most_force_error))
        std::snprintf(
            text, sizeof text,
            "the forces differ from direct summation by %.3g of their size, and may by %g: choose a "
            "smaller --angle",
            found.errors.mean, most_force_error);
    else if (!(found.energy_change() <= most_energy_change))
        std::snprintf(
            text, sizeof text,
            "the energy has changed by %.3g of its size, and may by %g: choose a smaller --time-step "
            "or a larger --softening",
            found.energy_change(), most_energy_change);
    return text;
}

void print_report(std::FILE *out, apps::version of, int ranks, const command_line &wanted,
                  const outcome &found) {
    const std::string failure = wrong(found);
    const auto each = [&](auto of_effort) {
        return mean_of_steps(found, [&](std::size_t i) { return double(of_effort(found.efforts[i])); });
    };
    const double interactions = each([](const effort &e) { return e.interactions; });
    std::fprintf(out,
                 "bodies: %llu\nsteps: %d\ntime step: %g\nopening angle: %g\nsoftening: %g\nseed: %llu\n",
                 static_cast<unsigned long long>(wanted.bodies), wanted.steps, wanted.time_step,
                 wanted.force.angle, wanted.force.softening, static_cast<unsigned long long>(wanted.seed));
    std::fprintf(out, "execution: %s\nranks: %d\n", apps::execution(of), ranks);
    std::fprintf(out, "seconds a step: %.6g\ntree of rank 0: %.6g\nforces of rank 0: %.6g\n",
                 found.seconds_a_step(), each([](const effort &e) { return e.tree; }),
                 each([](const effort &e) { return e.walk; }));
    std::fprintf(out, "interactions a body: %.6g\n", interactions / double(wanted.bodies));
    if (of == apps::version::tasks)
        std::fprintf(out, "transfers of rank 0: %.6g\n", each([](const effort &e) { return e.transfers; }));
    std::fprintf(out, "energy: %.9g at the begin, %.9g at the end\n", found.first_energy, found.last_energy);
    std::fprintf(
        out,
        "verification: %s; %zu forces against direct summation, mean error %.3g (may be %g), largest %.3g; "
        "energy changed by %.3g (may be %g)\n",
        failure.empty() ? "passed" : "failed",
        std::size_t(sample_of(wanted.bodies, std::uint64_t(wanted.sample)).size()), found.errors.mean,
        most_force_error, found.errors.worst, found.energy_change(), most_energy_change);
    std::fprintf(out,
                 "result: program=%s bodies=%llu ranks=%d steps=%d seconds=%.9g interactions=%.9g "
                 "energy=%.12g force_error=%.4g energy_change=%.4g verified=%s\n",
                 apps::program_name("barnes_hut", of).c_str(), static_cast<unsigned long long>(wanted.bodies),
                 ranks, wanted.steps, found.seconds_a_step(), interactions, found.last_energy,
                 found.errors.mean, found.energy_change(), failure.empty() ? "yes" : "no");
}

void write_bodies(const std::string &path, const std::vector<vector3> &places) {
    std::FILE *const out = std::fopen(path.c_str(), "w");
    if (!out)
        throw std::runtime_error("cannot write '" + path + "': " + std::strerror(errno));
    for (const vector3 &at : places)
        std::fprintf(out, "%.9g %.9g %.9g\n", at[0], at[1], at[2]);
    const bool full = std::ferror(out) != 0;
    if (std::fclose(out) != 0 || full)
        throw std::runtime_error("cannot write '" + path + "': " + std::strerror(errno));
}

} // namespace barnes_hut
