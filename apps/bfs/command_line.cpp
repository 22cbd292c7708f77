#include "command_line.hpp"

#include "apps/support/options.hpp"
#include "tools/command_line.hpp"

namespace bfs {
namespace {

void add_task_options(fult::tools::command_line &line, command_line &into) {
    line.add_option("--searchers", into.searchers,
                    "tasks of a rank that search; each has a stream to each rank")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 65536))
        ->capture_default_str();
    apps::add_workers_option(line, into.workers);
}

} // namespace

std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of,
                                     command_line &into) {
    fult::tools::command_line line(
        "Makes a Kronecker graph and searches it breadth first, as Graph500 does, and checks each search.",
        apps::program_name("bfs", of), "[option...] scale");
    line.add_option("scale", into.scale, "the graph has 2^scale vertices")
        ->type_name("")
        ->required()
        ->transform(fult::tools::whole_number(1, 40));
    line.add_option("--edgefactor", into.edgefactor, "edges for each vertex")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1024))
        ->capture_default_str();
    line.add_option("--searches", into.searches, "how many, at most")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000))
        ->capture_default_str();
    apps::add_seed_option(line, into.seed, "graph and roots depend on it and on nothing else");
    line.add_switch("--no-validation", into.validates, "do not check the searches", false);
    if (of == apps::version::tasks)
        add_task_options(line, into);
    line.footer(
        "The exit status is 0 if all searches are right, 1 if one is wrong or something failed, 2 for a\n"
        "wrong command line.");
    return line.read(argc, argv);
}

} // namespace bfs
