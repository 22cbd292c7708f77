// fult-comm-info: prints the options of the communication library and their values in this environment.
#include <cstdio>
#include <string>

#include <fult/comm/context.hpp>
#include <fult/fult.h>

#include "comm/job/option_table.hpp"
#include "tools/command_line.hpp"
#include "tools/option_listing.hpp"

namespace {

void print_table() {
    fult::tools::print_markdown(
        fult::comm::detail::comm_option_table(), "Options of messages", "fult-comm-info",
        "fult::comm::options",
        "A value out of its range is refused when the context starts, wherever it comes from.");
}

void print_all() {
    const fult::comm::options now = fult::comm::read_options();
    std::printf("fult-comm %s\n\noptions\n", fult_version());
    fult::tools::print_values(fult::comm::detail::comm_option_table(), now,
                              [](const std::string &) { return std::string(); });
}

} // namespace

int main(int count, char **arguments) {
    return fult::tools::list_options(
        count, arguments, "fult-comm-info",
        "Prints the version, and each option of messages with its value, where it comes from, and its "
        "meaning.",
        "docs/communication-options.md", print_table, print_all);
}
