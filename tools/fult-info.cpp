// fult-info: version, machine and options of the library.
#include <cstdio>
#include <exception>
#include <string>

#include <fult/fult.h>
#include <fult/options.hpp>

#include "fult/base/asymmetric_fence.hpp"
#include "fult/base/option_table.hpp"
#include "fult/memory/stack_pool.hpp"
#include "fult/scheduler/topology.hpp"
#include "tools/command_line.hpp"
#include "tools/option_listing.hpp"

namespace {

void print_table() {
    fult::tools::print_markdown(fult::detail::option_table(), "Options", "fult-info", "fult::options",
                                "A value outside its range is an error when the runtime starts.");
}

void print_all() {
    const fult::options now = fult::read_options();
    const fult::detail::topology machine;
    const fult::detail::stack_pool stacks({now.stack_size, 0, now.guard});
    std::printf("fult %s\n\nmachine\n  %s\n  membarrier: %s\n  stack guards by %s\n\noptions\n",
                fult_version(), machine.describe().c_str(),
                fult::detail::asymmetric_fence_available() ? "yes" : "no (private words are off)",
                stacks.guard_name());
    fult::tools::print_values(fult::detail::option_table(), now, [&](const std::string &variable) {
        const bool chosen = now.workers == 0 && variable == "FULT_WORKERS";
        return chosen ? " (" + std::to_string(machine.usable()) + ")" : std::string();
    });
}

} // namespace

int main(int count, char **arguments) {
    fult::tools::command_line line(
        "Prints the version, the machine as FULT sees it, and each option with its value, the origin of the "
        "value, and its meaning.",
        "fult-info");
    bool markdown = false;
    line.add_switch("--markdown", markdown, "print the table of options, docs/environment.md");
    line.set_version_flag("--version", fult_version(), "print only the version");
    if (const auto status = line.read(count, arguments))
        return *status;
    try {
        markdown ? print_table() : print_all();
        return std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "fult-info: %s\n", error.what());
        return 1;
    }
}
