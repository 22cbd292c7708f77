#include "matrix_file.hpp"

#include <cstdio>
#include <limits>

#include "apps/support/words.hpp"

namespace hpccg {
namespace {
using apps::words;

std::string of_row(const char *what, std::int64_t row) { return what + std::to_string(row); }

void read_row_starts(words &in, sparse_matrix &matrix) {
    const std::int64_t entries = matrix.entries();
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
        matrix.row_start[std::size_t(row)] = sum;
        sum += in.whole(of_row("the number of entries of row ", row), 0, matrix.rows());
        if (sum > entries)
            in.wrong("rows 0 to " + std::to_string(row) + " have " + std::to_string(sum) +
                     " entries together, but the file declares " + std::to_string(entries));
    }
    if (sum != entries)
        in.wrong("all rows have " + std::to_string(sum) + " entries together, but the file declares " +
                 std::to_string(entries));
    matrix.row_start[std::size_t(matrix.rows())] = sum;
}

void read_entries(words &in, sparse_matrix &matrix) {
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
        const std::int64_t begin = matrix.row_start[std::size_t(row)],
                           end = matrix.row_start[std::size_t(row) + 1];
        const auto again = in.whole(of_row("the number of entries of row ", row), 0, matrix.rows());
        if (again != end - begin)
            in.wrong("row " + std::to_string(row) + " has " + std::to_string(again) + " entries here, but " +
                     std::to_string(end - begin) + " in the list of all rows");
        const std::string value = of_row("a value of row ", row), column = of_row("a column of row ", row);
        for (std::int64_t at = begin; at < end; ++at) {
            matrix.values[std::size_t(at)] = in.real(value);
            matrix.columns[std::size_t(at)] = std::int32_t(in.whole(column, 0, matrix.rows() - 1));
        }
    }
}
} // namespace

problem read_problem(const std::string &path, const std::function<void(problem &)> &touch) {
    words in(path);
    constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();
    const auto rows = in.whole("the number of rows", 1, most_rows);
    // An entry takes four characters at least: a wrong number is found before memory is asked for. Rows of a
    // square matrix cannot have more than rows x rows.
    const auto entries = in.whole("the number of entries", 0, rows * rows);
    const std::uint64_t text = in.file_bytes();
    if (std::uint64_t(entries) > text / 4 || std::uint64_t(rows) > text / 10)
        in.wrong("the file declares " + std::to_string(rows) + " rows and " + std::to_string(entries) +
                 " entries, but it has only " + std::to_string(text) + " characters");
    require_bytes("the matrix in '" + path + "'", bytes_needed(std::uint64_t(rows), std::uint64_t(entries)),
                  available_bytes());
    problem made;
    made.matrix.row_start = array<std::int64_t>(std::size_t(rows) + 1);
    made.matrix.columns = array<std::int32_t>(std::size_t(entries));
    made.matrix.values = array<double>(std::size_t(entries));
    made.guess = array<double>(std::size_t(rows));
    made.right = array<double>(std::size_t(rows));
    made.solution = array<double>(std::size_t(rows));
    read_row_starts(in, made.matrix);
    touch(made);
    read_entries(in, made.matrix);
    for (std::int64_t row = 0; row < rows; ++row) {
        made.guess[std::size_t(row)] = in.real(of_row("the guess of row ", row));
        made.right[std::size_t(row)] = in.real(of_row("the right-hand side of row ", row));
        made.solution[std::size_t(row)] = in.real(of_row("the exact solution of row ", row));
    }
    if (in.next())
        in.wrong("'" + in.word() + "' comes after the end of the matrix; remove what is too much");
    return made;
}

void write_problem(const std::string &path, const problem &given) {
    const apps::open_file file = apps::open_text(path, "w");
    std::FILE *const out = file.get();
    const sparse_matrix &matrix = given.matrix;
    const auto count = [&](std::int64_t row) {
        return static_cast<long long>(matrix.row_start[std::size_t(row) + 1] -
                                      matrix.row_start[std::size_t(row)]);
    };
    std::fprintf(out, "%lld %lld\n", static_cast<long long>(matrix.rows()),
                 static_cast<long long>(matrix.entries()));
    for (std::int64_t row = 0; row < matrix.rows(); ++row)
        std::fprintf(out, "%lld\n", count(row));
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
        std::fprintf(out, "%lld\n", count(row));
        for (auto at = matrix.row_start[std::size_t(row)]; at < matrix.row_start[std::size_t(row) + 1]; ++at)
            std::fprintf(out, "%.17g %d\n", matrix.values[std::size_t(at)], matrix.columns[std::size_t(at)]);
    }
    for (std::size_t row = 0; row < std::size_t(matrix.rows()); ++row)
        std::fprintf(out, "%.17g %.17g %.17g\n", given.guess[row], given.right[row], given.solution[row]);
    apps::finish_writing(file, path);
}

} // namespace hpccg
