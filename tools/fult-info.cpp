// fult-info: version, machine and options of the library.
#include <cstdio>
#include <string>

#include <fult/fult.h>
#include <fult/options.hpp>

#include "fult/base/asymmetric_fence.hpp"
#include "fult/base/option_table.hpp"
#include "fult/memory/stack_pool.hpp"
#include "fult/scheduler/binding.hpp"
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
    const auto binding = fult::detail::decide_binding(machine.binding_facts_of(now));
    std::printf("fult %s\n\nmachine\n  %s\n  membarrier: %s\n  stack guards by %s\n  workers are %s: "
                "%s\n\noptions\n",
                fult_version(), machine.describe().c_str(),
                fult::detail::asymmetric_fence_available() ? "yes" : "no (private words are off)",
                stacks.guard_name(), binding.bind ? "bound" : "not bound", binding.reason.c_str());
    fult::tools::print_values(fult::detail::option_table(), now, [&](const std::string &variable) {
        if (variable == "FULT_WORKERS" && now.workers == 0)
            return " (" + std::to_string(machine.usable()) + ")";
        if (variable == "FULT_BIND" && now.bind == fult::bind_mode::automatic)
            return std::string(binding.bind ? " (on)" : " (off)");
        return std::string();
    });
}

} // namespace

int main(int count, char **arguments) {
    return fult::tools::list_options(
        count, arguments, "fult-info",
        "Prints the version, the machine as FULT sees it, and each option with its value, the origin of the "
        "value, and its meaning.",
        "docs/environment.md", print_table, print_all);
}
