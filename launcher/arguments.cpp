#include "launcher/arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fult/version.hpp>

#include "comm/bootstrap/run_message.hpp"
#include "tools/command_line.hpp"

namespace fult::run {
namespace {

constexpr int most_ranks = comm::detail::max_run_ranks;

const char *const details =
    R"(Output is forwarded line by line. When a rank fails (a status other than 0, or a signal) the others
get SIGTERM, and SIGKILL two seconds later. The exit status is that of the rank that failed first,
128 + N for signal N, 127 if there is no such program, 126 if it cannot be run, 2 for a mistake on
this command line. A rank that exits with status 0 but without ending its communication fails with
status 1. Interrupt, terminate and hang-up are passed on; a second one kills at once. SIGUSR1 and
SIGUSR2 are passed on and end nothing. When fult-run ends, however it ends, nothing that it started
is left, nor the job's files /dev/shm/fult-<job>*.

Each rank sees FULT_RUN_RANK, FULT_RUN_SIZE, FULT_RUN_JOB (a name of this job) and FULT_RUN_FD (its
connection).)";

// A rank, or none, which is -1.
std::string input_rank(std::string &text) {
    if (text != "none")
        return tools::whole_number(0, most_ranks - 1)(text).empty()
                   ? std::string()
                   : "must be a rank or none, not '" + text + "'";
    text = "-1";
    return {};
}

// Where the command begins. Until there, -np is another way to write -n, as of mpiexec.
std::size_t command_at(std::vector<std::string> &words, const CLI::App &line) {
    std::size_t at = 0;
    while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
        if (words[at] == "--")
            break;
        if (words[at] == "-np")
            words[at] = "-n";
        const CLI::Option *const known = line.get_option_no_throw(words[at]);
        at += known && known->get_items_expected_max() > 0 ? 2 : 1;
    }
    return std::min(at, words.size());
}

} // namespace

std::optional<int> read_arguments(std::vector<std::string> words, arguments &into) {
    tools::command_line line(
        "Starts N processes (ranks) of a program on this machine. Programs that use FULT's "
        "communication find each other.",
        "fult-run", "-n N [option...] program [argument...]");
    line.add_option("-n,--ranks", into.ranks,
                    "how many, 1 to " + std::to_string(most_ranks) + "; -np is the same")
        ->type_name("N")
        ->transform(tools::whole_number(1, most_ranks));
    line.add_switch("-p,--prefix", into.prefix, "write [rank] before each line of output");
    line.add_option("-i,--stdin", into.input, "the rank that reads the standard input, or none")
        ->type_name("RANK")
        ->transform(CLI::Validator(input_rank, ""))
        ->capture_default_str();
    line.add_switch("-k,--keep-going", into.keep_going, "when a rank fails, leave the others alone");
    line.add_switch("--no-bind", into.bind,
                    "let each rank use all processors, and bind no worker (FULT_BIND=off); else the "
                    "processors are shared "
                    "out where there is one for each rank",
                    false);
    line.set_version_flag("-V,--version", "fult-run " FULT_VERSION_STRING, "the version");
    line.footer(details);

    const auto command = words.begin() + static_cast<std::ptrdiff_t>(command_at(words, line));
    try {
        line.parse(std::vector<std::string>(std::make_reverse_iterator(command), words.rend()));
    } catch (const CLI::ParseError &ending) {
        return line.ended(ending);
    }
    into.command.assign(command + (command != words.end() && *command == "--"), words.end());
    if (into.ranks == 0)
        return line.refuse("how many ranks? Say -n N");
    if (into.command.empty())
        return line.refuse("which program? Give it after the options");
    if (into.input >= into.ranks)
        return line.refuse("--stdin " + std::to_string(into.input) + ": the last rank is " +
                           std::to_string(into.ranks - 1));
    return std::nullopt;
}

} // namespace fult::run
