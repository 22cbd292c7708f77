#include "command_line.hpp"

#include "apps/support/options.hpp"
#include "tools/command_line.hpp"

namespace monte_carlo {
namespace {

scheme read_scheme(const std::string &word) {
    for (const scheme each : {scheme::dedicated, scheme::simple, scheme::prefetch})
        if (word == name_of(each))
            return each;
    throw CLI::ValidationError("--scheme", "must be dedicated, simple or prefetch, not '" + word + "'");
}

CLI::Validator thickness_in_cm() {
    const auto check = [any = fult::tools::any_number()](std::string &word) -> std::string {
        std::string error = any(word);
        if (error.empty() && !(std::stod(word) >= 1e-3 && std::stod(word) <= 1e5))
            error = "must be a number from 0.001 to 100000, not '" + word + "'";
        return error;
    };
    return CLI::Validator(check, "");
}

void add_problem_options(fult::tools::command_line &line, problem &into) {
    line.add_option("particles", into.particles, "their number")
        ->type_name("")
        ->required()
        ->transform(fult::tools::whole_number<std::uint64_t>(1, 1'000'000'000));
    line.add_option("--bands", into.bands, "bands of energies, each with a table")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1u, 1000u))
        ->capture_default_str();
    line.add_option("--points", into.points, "intervals of a table")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1u, 1'000'000u))
        ->capture_default_str();
    line.add_option("--nuclides", into.nuclides, "columns of a table, 16 bytes each")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1u, 500u))
        ->capture_default_str();
    line.add_option("--thickness", into.thickness, "of the slab, in cm")
        ->type_name("X")
        ->transform(thickness_in_cm())
        ->capture_default_str();
    apps::add_seed_option(line, into.seed, "tables and particles depend on it");
}

void add_servers(fult::tools::command_line &line, command_line &into, const std::string &meaning) {
    line.add_option("--servers", into.servers, meaning)
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000))
        ->capture_default_str();
}

void add_task_options(fult::tools::command_line &line, command_line &into) {
    line.add_option_function<std::string>(
            "--scheme", [&into](const std::string &word) { into.how = read_scheme(word); },
            "dedicated: some ranks only have tables, the others track; simple: all do both, band after "
            "band; prefetch: a task for each particle gets the tables that it needs")
        ->type_name("NAME")
        ->default_str(name_of(into.how));
    add_servers(line, into, "ranks that only have tables, in the dedicated scheme");
    apps::add_cache_option(line, into.cache, "tables");
    line.add_option("--in-flight", into.in_flight,
                    "particles of a rank that are tracked at the same time, in the prefetch scheme")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1u, 1'000'000u))
        ->capture_default_str();
    apps::add_workers_option(line, into.workers);
}

} // namespace

const char *name_of(scheme which) {
    switch (which) {
    case scheme::dedicated:
        return "dedicated";
    case scheme::simple:
        return "simple";
    case scheme::prefetch:
        break;
    }
    return "prefetch";
}

std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of,
                                     command_line &into) {
    fult::tools::command_line line("Tracks neutrons through a slab, with tables of cross sections that are "
                                   "divided into bands of energies, and tallies their flux.",
                                   apps::program_name("monte_carlo", of), "[option...] particles");
    add_problem_options(line, into.given);
    line.add_option("--tallies", into.tallies_file, "write the tallies; apps/monte_carlo/plot draws them")
        ->type_name("FILE");
    line.add_switch("--no-check", into.check,
                    "do not track all particles once more, in one thread with all tables, to compare the "
                    "tallies",
                    false);
    if (of == apps::version::tasks)
        add_task_options(line, into);
    if (of == apps::version::processes)
        add_servers(line, into, "processes that only have tables; the others track");
    line.footer(
        "The exit status is 0 if the tallies are right, 1 if they are not or something failed, 2 for a\n"
        "wrong command line.");
    return line.read(argc, argv);
}

} // namespace monte_carlo
