#include "matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <limits>

#include "apps/support/words.hpp"

namespace sptrsv {
namespace {

using apps::words;

struct banner {
    bool pattern, symmetric;
};

std::string lower_case(std::string word) {
    for (char &each : word)
        each = char(std::tolower(static_cast<unsigned char>(each)));
    return word;
}

// The next word of the banner, which must be one of these.
std::string one_of(words &in, const std::string &what, std::initializer_list<const char *> choices) {
    const std::string found = lower_case(in.word(what));
    std::string all;
    for (const char *each : choices) {
        if (found == each)
            return found;
        all += std::string(all.empty() ? "" : ", ") + each;
    }
    in.wrong("the " + what + " is '" + in.word() + "', but this program reads " + all + "; convert the file");
}

banner read_banner(words &in) {
    if (!in.next() || lower_case(in.word()) != "%%matrixmarket")
        in.wrong("a file of the Matrix Market begins with %%MatrixMarket");
    one_of(in, "object", {"matrix"});
    one_of(in, "format", {"coordinate"});
    const std::string field = one_of(in, "field", {"real", "integer", "pattern"});
    const std::string symmetry = one_of(in, "symmetry", {"general", "symmetric"});
    return {field == "pattern", symmetry == "symmetric"};
}

struct entry {
    index row, column;
    double value;
    std::uint64_t line;
};

std::string place(const entry &of) {
    return std::string("(") + std::to_string(of.row + 1) + ", " + std::to_string(of.column + 1) + ")";
}

entry read_entry(words &in, const banner &kind, index rows) {
    entry read{};
    read.row = index(in.whole("the row of an entry", 1, rows)) - 1;
    read.line = in.line();
    read.column = index(in.whole("the column of an entry", 1, rows)) - 1;
    if (read.column > read.row)
        in.wrong("the entry " + place(read) + " is above the diagonal; " +
                 (kind.symmetric ? "a symmetric matrix is stored as its lower triangle"
                                 : "give a lower triangular matrix, for example the transpose"));
    read.value = kind.pattern ? -1 : in.real("the value of an entry");
    if (read.row == read.column && read.value == 0)
        in.wrong("the entry " + place(read) +
                 " is zero, and the system has no unique solution; the "
                 "diagonal must not have zeros");
    return read;
}

std::vector<entry> read_entries(words &in, const banner &kind, index rows, std::int64_t count) {
    std::vector<entry> all;
    all.reserve(std::size_t(count));
    for (std::int64_t k = 0; k < count; ++k)
        all.push_back(read_entry(in, kind, rows));
    if (in.next())
        in.wrong("'" + in.word() + "' comes after the last of " + std::to_string(count) +
                 " entries; remove it, or correct their number");
    return all;
}

// Of entries in order.
void require_distinct(const std::string &path, const std::vector<entry> &all) {
    const auto twice = std::adjacent_find(all.begin(), all.end(), [](const entry &a, const entry &b) {
        return a.row == b.row && a.column == b.column;
    });
    if (twice != all.end()) {
        const auto [first, second] = std::minmax(twice->line, std::next(twice)->line);
        throw failure(path + ":" + std::to_string(second) + ": the entry " + place(*twice) + " is in line " +
                      std::to_string(first) + ", too; remove one");
    }
}

triangle assemble(const std::string &path, const banner &kind, index rows, const std::vector<entry> &all) {
    triangle made;
    made.diagonal.assign(std::size_t(rows), kind.pattern ? 1 : 0);
    made.starts.assign(std::size_t(rows) + 1, 0);
    for (const entry &each : all) {
        if (each.row == each.column) {
            if (!kind.pattern)
                made.diagonal[std::size_t(each.row)] = each.value;
            continue;
        }
        made.columns.push_back(each.column);
        made.values.push_back(each.value);
        ++made.starts[std::size_t(each.row) + 1];
        if (kind.pattern)
            ++made.diagonal[std::size_t(each.row)], ++made.diagonal[std::size_t(each.column)];
    }
    for (std::size_t row = 0; row < std::size_t(rows); ++row) {
        made.starts[row + 1] += made.starts[row];
        if (made.diagonal[row] == 0)
            throw failure(path + ": row " + std::to_string(row + 1) +
                          " has no entry in the diagonal, and the system has no unique solution; add one");
    }
    return made;
}

} // namespace

triangle read_matrix_market(const std::string &path) {
    words in(path);
    const banner kind = read_banner(in);
    in.skip_comments('%');
    constexpr std::int64_t most_rows = std::numeric_limits<index>::max();
    const auto rows = in.whole("the number of rows", 1, most_rows);
    const auto columns = in.whole("the number of columns", 1, most_rows);
    if (columns != rows)
        in.wrong("the matrix has " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                 " columns; a triangular system has a square one");
    const auto count = in.whole("the number of entries", 0, rows * (rows + 1) / 2);
    // An entry takes four characters at least: a wrong number is found before memory is allocated.
    if (std::uint64_t(count) > in.file_bytes() / 4)
        in.wrong("the file declares " + std::to_string(count) + " entries, but it has only " +
                 std::to_string(in.file_bytes()) + " characters");
    std::vector<entry> all = read_entries(in, kind, index(rows), count);
    std::sort(all.begin(), all.end(), [](const entry &a, const entry &b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    require_distinct(path, all);
    return assemble(path, kind, index(rows), all);
}

void write_matrix_market(const std::string &path, const triangle &given) {
    const apps::open_file file = apps::open_text(path, "w");
    std::FILE *const out = file.get();
    std::fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%d %d %lld\n", given.rows(),
                 given.rows(), static_cast<long long>(given.entries()));
    for (index row = 0; row < given.rows(); ++row) {
        const auto columns = given.columns_of(row);
        const auto values = given.values_of(row);
        for (std::size_t k = 0; k < columns.size(); ++k)
            std::fprintf(out, "%d %d %.17g\n", row + 1, columns[k] + 1, values[k]);
        std::fprintf(out, "%d %d %.17g\n", row + 1, row + 1, given.diagonal[std::size_t(row)]);
    }
    apps::finish_writing(file, path);
}

} // namespace sptrsv
