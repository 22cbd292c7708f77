// fult-comm-info: prints the options of the communication library and their values in this environment.
#include <cstdio>
#include <exception>
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
    fult::tools::command_line line(
        "Prints the version, and each option of messages with its value, where it comes from, and its "
        "meaning.",
        "fult-comm-info");
    bool markdown = false;
    line.add_switch("--markdown", markdown,
                    "print the table of options as docs/communication-options.md has it");
    line.set_version_flag("--version", fult_version(), "print the version alone");
    if (const auto status = line.read(count, arguments))
        return *status;
    try {
        markdown ? print_table() : print_all();
        return std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "fult-comm-info: %s\n", error.what());
        return 1;
    }
}
