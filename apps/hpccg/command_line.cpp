#include "command_line.hpp"

#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

namespace hpccg {
namespace {
std::int64_t whole(std::string_view text, const std::string &what, std::int64_t most) {
    std::int64_t value = 0;
    const char *const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc::result_out_of_range || (read.ec == std::errc{} && value > most))
        throw failure(what + ": '" + std::string(text) + "' is too large; at most " + std::to_string(most));
    if (read.ec != std::errc{} || read.ptr != end || value < 1)
        throw failure(what + ": '" + std::string(text) + "' is not a whole number from 1 on");
    return value;
}

constexpr std::int64_t most_points = std::numeric_limits<std::int32_t>::max();

void read_words(command_line &out, const std::vector<std::string> &words) {
    if (words.size() == 1) {
        out.matrix_file = words[0];
        return;
    }
    if (words.size() != 3)
        throw failure("expected nx ny nz or the name of a matrix file, and got " +
                      std::to_string(words.size()) + " words");
    out.points.emplace(whole(words[0], "nx", most_points), whole(words[1], "ny", most_points),
                       whole(words[2], "nz", most_points));
}
} // namespace

command_line read_command_line(int argc, const char *const *argv) {
    command_line out;
    std::vector<std::string> words;
    bool options = true;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (!options || word.size() < 2 || word[0] != '-') {
            words.push_back(word);
            continue;
        }
        if (word == "--") {
            options = false;
            continue;
        }
        if (word == "-h" || word == "--help") {
            out.help = true;
            return out;
        }
        if (words.size() < 3 && word.find_first_not_of("0123456789", 1) == std::string::npos) {
            words.push_back(word); // a negative number is better called one than an unknown option
            continue;
        }
        std::string value;
        const auto equals = word.find('=');
        const bool attached = equals != std::string::npos;
        if (attached) {
            value = word.substr(equals + 1);
            word.resize(equals);
        }
        if (word != "--workers" && word != "--iterations" && word != "--residuals" && word != "--write")
            throw failure("there is no option '" + word + "'");
        if (!attached) {
            if (++i == argc)
                throw failure("option " + word + " needs a value");
            value = argv[i];
        }
        if (word == "--workers")
            out.workers = unsigned(whole(value, "option --workers", 1024));
        else if (word == "--iterations")
            out.iterations = int(whole(value, "option --iterations", 1'000'000'000));
        else
            (word == "--residuals" ? out.residuals_file : out.written_file) = value;
    }
    read_words(out, words);
    return out;
}

std::string help_text(const std::string &program, bool several_workers) {
    std::string text =
        "Solves a sparse linear system by conjugate gradients, and checks the solution.\n\n"
        "usage: " +
        program + " [option...] nx ny nz\n       " + program +
        " [option...] matrix-file\n\n"
        "  nx ny nz             a grid: 27 in the diagonal, -1 for each of up to 26 neighbours\n"
        "  matrix-file          a system as text, with its exact solution\n";
    if (several_workers)
        text += "  --workers N          kernel threads (one a processor)\n";
    return text + "  --iterations N       how many at most (" + std::to_string(usual_iterations) +
           ")\n"
           "  --residuals FILE     write the residual of every iteration, with all digits\n"
           "  --write FILE         write the system as a matrix file\n"
           "  -h, --help           this text\n\n"
           "The exit status is 0 where the solution is right, 1 where it is not or something failed, 2 for a "
           "wrong\n"
           "command line.\n";
}

} // namespace hpccg
