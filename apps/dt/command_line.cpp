#include "command_line.hpp"

#include <string>

#include "apps/support/options.hpp"
#include "tools/command_line.hpp"

namespace dt {
namespace {

shape read_shape(const std::string &word) {
    for (const shape each : {shape::black_hole, shape::white_hole, shape::shuffle})
        if (word == short_name(each))
            return each;
    throw CLI::ValidationError("graph", "must be BH, WH or SH, not '" + word + "'");
}

problem read_problem(const std::string &word) {
    const auto found = word.size() == 1 ? find_problem(word[0]) : std::nullopt;
    if (!found)
        throw CLI::ValidationError("class", "must be S, W, A or B, not '" + word + "'");
    return *found;
}

const char *how_nodes_run(apps::version of) {
    switch (of) {
    case apps::version::serial:
        return "The nodes run one after the other.";
    case apps::version::processes:
        return "Each node is a process: mpiexec -n 12 dt-mpi S SH.";
    case apps::version::tasks:
        break;
    }
    return "Each node is a task; any number of ranks will do: fult-run -n 2 dt A SH.";
}

} // namespace

std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of,
                                     command_line &into) {
    fult::tools::command_line line(
        "Sends streams of features through a graph of nodes, and compares the checksum with that of NAS DT.",
        apps::program_name("dt", of), "[option...] class graph");
    std::string name, form;
    line.add_option("class", name, "the size of the problem: S, W, A or B")->type_name("")->required();
    line.add_option("graph", form, "BH (black hole), WH (white hole) or SH (shuffle)")
        ->type_name("")
        ->required();
    if (of == apps::version::tasks)
        apps::add_workers_option(line, into.workers);
    line.footer(
        std::string(how_nodes_run(of)) +
        "\nThe exit status is 0 if the checksum is right, 1 if it is wrong or something failed, 2 for a\n"
        "wrong command line.");
    try {
        line.parse(argc, argv);
        into.given = read_problem(name);
        into.form = read_shape(form);
    } catch (const CLI::ParseError &ending) {
        return line.ended(ending);
    }
    return std::nullopt;
}

} // namespace dt
