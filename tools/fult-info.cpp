// fult-info: version, machine and options of the library that programs here would get.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <fult/fult.h>
#include <fult/options.hpp>

#include "fult/asymmetric_fence.hpp"
#include "fult/option_table.hpp"
#include "fult/stack_pool.hpp"
#include "fult/topology.hpp"

namespace {

constexpr const char *help =
    "usage: fult-info [--markdown | --version | --help]\n"
    "  (no option)  version, machine, and each option with its value, where it comes from, and its meaning\n"
    "  --markdown   the table of options as docs/environment.md holds it\n"
    "  --version    the version alone\n";

int print_markdown() {
    std::puts("# Options\n\nMade by `fult-info --markdown`. Each is an environment variable, and a member of "
              "`fult::options` in code, which wins.\n"
              "An empty variable counts as unset. A value out of its range is refused when the runtime "
              "starts, wherever "
              "it comes from.\n"
              "`fult-info` shows the values in force.\n\n| variable | values | default | meaning |\n| --- | "
              "--- | --- | --- |");
    for (const auto &row : fult::detail::option_table())
        std::printf("| `%s` | %s | %s | %s |\n", row.variable, row.type, row.fallback, row.help);
    return 0;
}

int print_all() {
    const fult::options now = fult::read_options();
    const fult::detail::topology machine;
    const fult::detail::stack_pool stacks({now.stack_size, 0, now.guard});
    std::printf("fult %s\n\nmachine\n  %s\n  membarrier: %s\n  stack guards by %s\n\noptions\n",
                fult_version(), machine.describe().c_str(),
                fult::detail::asymmetric_fence_available() ? "yes" : "no (private words are off)",
                stacks.guard_name());
    for (const auto &row : fult::detail::option_table()) {
        std::string value = row.print(now);
        if (now.workers == 0 && std::strcmp(row.variable, "FULT_WORKERS") == 0)
            value += " (" + std::to_string(machine.usable()) + ")";
        std::printf("  %-20s %-12s %-12s %s [%s]\n", row.variable, value.c_str(),
                    fult::detail::in_environment(row) ? "environment" : "default", row.help, row.type);
    }
    return 0;
}

} // namespace

int main(int count, char **arguments) {
    const std::string wanted = count > 1 ? arguments[1] : "";
    try {
        if (count > 2 ||
            (count == 2 && wanted != "--markdown" && wanted != "--version" && wanted != "--help")) {
            std::fprintf(stderr, "fult-info: '%s' is no option of it\n%s", arguments[count - 1], help);
            return 2;
        }
        if (wanted == "--help")
            return std::fputs(help, stdout) < 0;
        if (wanted == "--version")
            return std::puts(fult_version()) < 0;
        return wanted == "--markdown" ? print_markdown() : print_all();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "fult-info: %s\n", error.what());
        return 1;
    }
}
