// fult-comm-info: prints the options of the communication library and their values in this environment.
#include <cstdio>
#include <exception>
#include <string>

#include <fult/comm/context.hpp>
#include <fult/fult.h>

#include "comm/option_table.hpp"

namespace {

constexpr const char *help =
    "usage: fult-comm-info [--markdown | --help]\n"
    "  (no option)  version, and each option with its value, where it comes from, and its meaning\n"
    "  --markdown   the table of options as docs/communication-options.md holds it\n";

int print_markdown() {
    std::puts("# Options of messages\n\nMade by `fult-comm-info --markdown`. Each is an environment "
              "variable, and a member "
              "of `fult::comm::options` in code, which\nwins. An empty variable counts as unset. "
              "`fult-comm-info` shows the values in force.\n\n"
              "| variable | values | default | meaning |\n| --- | --- | --- | --- |");
    for (const auto &row : fult::comm::detail::comm_option_table())
        std::printf("| `%s` | %s | %s | %s |\n", row.variable, row.values, row.by_default, row.what);
    return 0;
}

int print_all() {
    const fult::comm::options now = fult::comm::read_options();
    std::printf("fult-comm %s\n\noptions\n", fult_version());
    for (const auto &row : fult::comm::detail::comm_option_table())
        std::printf("  %-24s %-10s %-12s %s [%s]\n", row.variable, row.print(now).c_str(),
                    fult::comm::detail::in_environment(row) ? "environment" : "default", row.what,
                    row.values);
    return 0;
}

} // namespace

int main(int count, char **arguments) {
    const std::string wanted = count > 1 ? arguments[1] : "";
    try {
        if (count > 2 || (count == 2 && wanted != "--markdown" && wanted != "--help")) {
            std::fprintf(stderr, "fult-comm-info: '%s' is no option of it\n%s", arguments[count - 1], help);
            return 2;
        }
        if (wanted == "--help")
            return std::fputs(help, stdout) < 0;
        return wanted == "--markdown" ? print_markdown() : print_all();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "fult-comm-info: %s\n", error.what());
        return 1;
    }
}
