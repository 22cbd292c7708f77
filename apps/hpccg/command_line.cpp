#include "command_line.hpp"

#include <limits>
#include <vector>

#include "tools/command_line.hpp"

namespace hpccg {
namespace {

std::int64_t points(std::string text, const char *what) {
    const auto check = fult::tools::whole_number<std::int64_t>(1, std::numeric_limits<std::int32_t>::max());
    if (const std::string error = check(text); !error.empty())
        throw CLI::ValidationError(what, error);
    return std::stoll(text);
}

void read_words(command_line &into, const std::vector<std::string> &words) {
    if (words.size() == 1)
        into.matrix_file = words[0];
    else if (words.size() == 3)
        into.points.emplace(points(words[0], "nx"), points(words[1], "ny"), points(words[2], "nz"));
    else
        throw CLI::ArgumentMismatch("expected nx ny nz or the name of a matrix file, and got " +
                                    std::to_string(words.size()) + " words");
}

} // namespace

std::optional<int> read_command_line(int argc, const char *const *argv, bool several_workers,
                                     command_line &into) {
    fult::tools::command_line line(
        "Solves a sparse linear system by conjugate gradients, and checks the solution.", "hpccg",
        "[option...] nx ny nz\n       hpccg [option...] matrix-file");
    std::vector<std::string> words;
    line.add_option(
            "system", words,
            "a grid of nx x ny x nz points: 27 in the diagonal, -1 for each of up to 26 neighbours; or a "
            "file with a system as text, with its exact solution")
        ->type_name("")
        ->expected(0, 4);
    line.add_option("--workers", into.workers, "kernel threads; else one a processor")
        ->type_name("N")
        ->group(several_workers ? "Options" : "") // nothing to read about in the help
        ->transform(fult::tools::whole_number(1, 1024));
    line.add_option("--iterations", into.iterations, "how many at most")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000'000))
        ->capture_default_str();
    line.add_option("--residuals", into.residuals_file,
                    "write the residual of every iteration, with all digits")
        ->type_name("FILE");
    line.add_option("--write", into.written_file, "write the system as a matrix file")->type_name("FILE");
    line.footer(
        "The exit status is 0 where the solution is right, 1 where it is not or something failed, 2 for a\n"
        "wrong command line.");
    try {
        line.parse(argc, argv);
        if (!several_workers && into.workers > 1)
            throw CLI::ValidationError("--workers", "the serial program has one");
        read_words(into, words);
    } catch (const CLI::ParseError &ending) {
        return line.ended(ending);
    }
    return std::nullopt;
}

} // namespace hpccg
