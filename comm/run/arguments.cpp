#include "comm/run/arguments.hpp"

#include <charconv>
#include <string_view>

#include "comm/bootstrap/run_message.hpp"

namespace fult::run {

const char *const help_text =
    R"(usage: fult-run -n N [options] program [argument...]

Starts N processes (ranks) of a program on this machine. Programs that use FULT's communication find each other.

  -n, --ranks N      how many, 1 to 1024
  -p, --prefix       write [rank] before each line of output
  -i, --stdin RANK   the rank that reads the standard input (0 if not said), or none
  -k, --keep-going   when a rank fails, leave the others alone
      --no-bind      let each rank use all processors; else they are shared out where there is one for each rank
  -h, --help         this text
  -V, --version      the version

Output is forwarded line by line. When a rank fails (a status other than 0, or a signal) the others get SIGTERM, and
SIGKILL two seconds later. The exit status is that of the rank that failed first, 128 + N for signal N, 127 if there is
no such program, 126 if it cannot be run, 2 for a mistake on this command line. A rank that exits with status 0 but
without ending its communication fails with status 1. Interrupt, terminate and hang-up are
passed on; a second one kills at once. SIGUSR1 and SIGUSR2 are passed on and end nothing. When fult-run ends, however
it ends, nothing that it started is left, nor the job's files /dev/shm/fult-<job>*.

Each rank sees FULT_RUN_RANK, FULT_RUN_SIZE, FULT_RUN_JOB (a name of this job) and FULT_RUN_FD (its connection).
)";

namespace {

int number(const std::string &option, std::string_view text, int low, int high) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if ((error != std::errc{} && error != std::errc::result_out_of_range) || end != text.data() + text.size())
        throw usage_error(option + " wants a number, not '" + std::string(text) + "'");
    if (error == std::errc::result_out_of_range || value < low || value > high)
        throw usage_error(option + " " + std::string(text) + ": must be from " + std::to_string(low) +
                          " to " + std::to_string(high));
    return value;
}

// The options by their long names; '=' marks options with a value.
struct option {
    std::string name;
    bool has_value;
};

option option_of(const std::string &word) {
    static const struct {
        const char *brief, *name;
        bool has_value;
    } options[] = {
        {"-n", "--ranks", true}, {"-np", "--ranks", true},      {"-p", "--prefix", false},
        {"-i", "--stdin", true}, {"-k", "--keep-going", false}, {"", "--no-bind", false},
        {"-h", "--help", false}, {"-V", "--version", false},
    };
    for (const auto &each : options)
        if (word == each.brief || word == each.name)
            return {each.name, each.has_value};
    throw usage_error("'" + word + "' is no option");
}

} // namespace

arguments read_arguments(const std::vector<std::string> &words) {
    arguments result;
    std::size_t at = 0;
    while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
        std::string word = words[at++];
        if (word == "--")
            break;
        // --ranks=4 and -n4 are --ranks 4 and -n 4
        std::string value;
        bool joined = false;
        if (const std::size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
            value = word.substr(equals + 1);
            word.resize(equals);
            joined = true;
        } else if (word.size() > 2 && word.starts_with("-n") && word[2] >= '0' && word[2] <= '9') {
            value = word.substr(2);
            word.resize(2);
            joined = true;
        }
        const option found = option_of(word);
        if (joined && !found.has_value)
            throw usage_error(word + " takes no value");
        if (found.has_value && !joined) {
            if (at == words.size())
                throw usage_error(word + " wants a value");
            value = words[at++];
        }
        if (found.name == "--ranks")
            result.ranks = number(word, value, 1, comm::detail::run_most_ranks);
        else if (found.name == "--stdin")
            result.input = value == "none" ? -1 : number(word, value, 0, comm::detail::run_most_ranks - 1);
        else if (found.name == "--prefix")
            result.prefix = true;
        else if (found.name == "--keep-going")
            result.keep_going = true;
        else if (found.name == "--no-bind")
            result.bind = false;
        else if (found.name == "--help")
            result.help = true;
        else
            result.version = true;
    }
    if (result.help || result.version)
        return result;
    result.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    if (result.ranks == 0)
        throw usage_error("how many ranks? Say -n N");
    if (result.command.empty())
        throw usage_error("which program? Give it after the options");
    if (result.input >= result.ranks)
        throw usage_error("--stdin " + std::to_string(result.input) + ": the last rank is " +
                          std::to_string(result.ranks - 1));
    return result;
}

} // namespace fult::run
