#include "command_line.hpp"

#include "apps/support/options.hpp"
#include "tools/command_line.hpp"

namespace barnes_hut {
namespace {

CLI::Validator number_between(double low, double high, const std::string &text) {
    const auto check = [any = fult::tools::any_number(), low, high, text](std::string &word) -> std::string {
        std::string error = any(word);
        if (error.empty() && !(std::stod(word) >= low && std::stod(word) <= high))
            error = "must be a number " + text + ", not '" + word + "'";
        return error;
    };
    return CLI::Validator(check, "");
}

void add_force_options(fult::tools::command_line &line, force_settings &into) {
    line.add_option("--angle", into.angle,
                    "opening angle: a cell acts as one mass if its side is shorter than this part of its "
                    "distance; 0: none does")
        ->type_name("X")
        ->transform(number_between(0, 0.57, "from 0 to 0.57: with more, a cell might act on its own bodies"))
        ->capture_default_str();
    line.add_option("--softening", into.softening, "length that is added, squared, to all squared distances")
        ->type_name("X")
        ->transform(number_between(1e-6, 1e6, "from 1e-6 to 1e6"))
        ->capture_default_str();
    line.add_option("--group", into.group, "bodies that walk through the tree together, at most")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1024))
        ->capture_default_str();
}

void add_task_options(fult::tools::command_line &line, command_line &into) {
    line.add_option("--line", into.line,
                    "cells with so many bodies at most are fetched with all that is in them")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000))
        ->capture_default_str();
    apps::add_cache_option(line, into.cache, "cells");
    apps::add_workers_option(line, into.workers);
}

} // namespace

std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of,
                                     command_line &into) {
    fult::tools::command_line line("Simulates a Plummer cluster of bodies that attract each other, by the "
                                   "algorithm of Barnes and Hut, and checks forces and energy.",
                                   apps::program_name("barnes_hut", of), "[option...] bodies");
    line.add_option("bodies", into.bodies, "their number")
        ->type_name("")
        ->required()
        ->transform(fult::tools::whole_number(2, 1'000'000'000));
    line.add_option("--steps", into.steps, "steps of the simulation")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000))
        ->capture_default_str();
    line.add_option("--time-step", into.time_step, "time of a step")
        ->type_name("X")
        ->transform(number_between(1e-9, 1, "from 1e-9 to 1"))
        ->capture_default_str();
    add_force_options(line, into.force);
    apps::add_seed_option(line, into.seed, "the bodies depend on it and on their number");
    line.add_option("--sample", into.sample, "bodies whose force is compared with a direct summation")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000))
        ->capture_default_str();
    line.add_option("--bodies", into.bodies_file,
                    "write the final places of the bodies; apps/barnes_hut/plot draws them")
        ->type_name("FILE");
    if (of == apps::version::tasks)
        add_task_options(line, into);
    line.footer(
        "The exit status is 0 if forces and energy are right, 1 if they are not or something failed, 2\n"
        "for a wrong command line.");
    return line.read(argc, argv);
}

} // namespace barnes_hut
