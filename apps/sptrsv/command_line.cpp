#include "command_line.hpp"

#include <limits>
#include <map>
#include <vector>

#include "apps/support/options.hpp"
#include "tools/command_line.hpp"

namespace sptrsv {
namespace {

index points(std::string text, const char *what) {
    const auto check = fult::tools::whole_number<index>(1, std::numeric_limits<index>::max());
    if (const std::string error = check(text); !error.empty())
        throw CLI::ValidationError(what, error);
    return index(std::stol(text));
}

void read_words(command_line &into, const std::vector<std::string> &words) {
    if (words.size() == 1)
        into.matrix_file = words[0];
    else if (words.size() == 2 || words.size() == 3)
        into.points = {points(words[0], "nx"), points(words[1], "ny"),
                       words.size() == 3 ? points(words[2], "nz") : 1};
    else
        throw CLI::ArgumentMismatch("expected nx ny, nx ny nz or the name of a matrix file, and got " +
                                    std::to_string(words.size()) + " words");
}

template <class Value> CLI::Validator one_of(Value &into, const std::map<std::string, Value> &choices) {
    return CLI::Validator(
        [&into, choices](std::string &text) -> std::string {
            const auto found = choices.find(text);
            std::string all;
            for (const auto &[name, value] : choices)
                all += (all.empty() ? "" : " or ") + name;
            if (found == choices.end())
                return "must be " + all + ", not '" + text + "'";
            into = found->second;
            return {};
        },
        "");
}

} // namespace

std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of,
                                     command_line &into) {
    const std::string name = apps::program_name("sptrsv", of);
    fult::tools::command_line line(
        "Solves a sparse triangular system by substitution, and checks the solution.", name,
        "[option...] nx ny [nz]\n       " + name + " [option...] matrix-file");
    std::vector<std::string> words;
    std::string around = "star", numbers = "natural", made = "ic0";
    grid chosen;
    line.add_option(
            "system", words,
            "the Laplacian of a grid of nx x ny or nx x ny x nz points; or a file of the Matrix Market "
            "with a lower triangular or a symmetric matrix: coordinates, real, integer or pattern")
        ->type_name("")
        ->expected(0, 4);
    line.add_option("--stencil", around,
                    "of a grid: star (5 or 7 points, along the axes) or box (9 or 27, all around)")
        ->type_name("NAME")
        ->check(one_of<stencil>(chosen.around, {{"star", stencil::star}, {"box", stencil::box}}))
        ->capture_default_str();
    line.add_option("--order", numbers, "of a grid's points: natural, or dissected (by nested dissection)")
        ->type_name("NAME")
        ->check(one_of<order>(chosen.numbers, {{"natural", order::natural}, {"dissected", order::dissected}}))
        ->capture_default_str();
    line.add_option("--factor", made,
                    "what is solved with: ic0, the incomplete Cholesky factor of the symmetric matrix; or "
                    "triangle, its lower triangle as it is")
        ->type_name("NAME")
        ->check(one_of<factor>(into.made, {{"ic0", factor::ic0}, {"triangle", factor::triangle}}))
        ->capture_default_str();
    line.add_switch("--backward", into.backward, "solve with the transpose, by backward substitution");
    line.add_option("--solves", into.solves, "how often; each is timed and checked")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1'000'000))
        ->capture_default_str();
    if (of == apps::version::tasks) {
        const auto entries = fult::tools::whole_number<std::int64_t>(1, 1'000'000'000);
        line.add_option("--section", into.entries_in_section,
                        "entries of a section, of which a rank's part is sent at once")
            ->type_name("N")
            ->transform(entries)
            ->capture_default_str();
        line.add_option("--task", into.entries_in_task,
                        "entries of a task at most: sections that follow one another; at least one section")
            ->type_name("N")
            ->transform(entries)
            ->capture_default_str();
        apps::add_workers_option(line, into.workers);
    }
    line.add_option("--plot", into.plot_file,
                    "draw the number of rows in each level, which are independent of each other, as an SVG "
                    "picture")
        ->type_name("FILE");
    line.add_option("--write", into.written_file, "write the triangle as a Matrix Market file")
        ->type_name("FILE");
    line.footer(
        "The exit status is 0 if all solutions are right, 1 if one is wrong or something failed, 2 for a\n"
        "wrong command line.");
    try {
        line.parse(argc, argv);
        read_words(into, words);
        if (into.points) {
            into.points->around = chosen.around;
            into.points->numbers = chosen.numbers;
        } else if (line.count("--stencil") + line.count("--order") != 0) {
            throw CLI::ValidationError("--stencil and --order", "are for grids, not for matrix files");
        }
    } catch (const CLI::ParseError &ending) {
        return line.ended(ending);
    }
    return std::nullopt;
}

} // namespace sptrsv
