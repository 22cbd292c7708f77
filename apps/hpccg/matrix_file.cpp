#include "matrix_file.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <sys/stat.h>

namespace hpccg {
namespace {
struct closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, closer>;

open_file open(const std::string &path, const char *how) {
    open_file file(std::fopen(path.c_str(), how));
    if (!file)
        throw failure(std::string("cannot ") + (*how == 'r' ? "read" : "write") + " '" + path +
                      "': " + std::strerror(errno));
    return file;
}

// The words of a file, with the place of each.
class words {
  public:
    explicit words(const std::string &path) : path_(path), file_(open(path, "r")), buffer_(1 << 20, '\0') {}

    std::uint64_t file_bytes() const {
        struct stat about;
        const bool known = fstat(fileno(file_.get()), &about) == 0 && S_ISREG(about.st_mode);
        return known ? std::uint64_t(about.st_size) : std::numeric_limits<std::uint64_t>::max();
    }

    // False at the end of the file.
    bool next() {
        int c = take();
        while (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            c = take();
        line_ = at_line_, column_ = at_column_;
        word_.clear();
        for (; c >= 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n'; c = take())
            if (word_.size() < longest)
                word_.push_back(char(c));
        return !word_.empty();
    }

    template <class Number> Number number(const char *kind, const std::string &what) {
        if (!next())
            wrong("the file ends where " + what + " should be");
        std::string_view text = word_;
        if (text.starts_with('+'))
            text.remove_prefix(1);
        Number value{};
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
            wrong("'" + word_ + "' is not " + kind + "; expected " + what);
        return value;
    }

    std::int64_t whole(const std::string &what, std::int64_t least, std::int64_t most) {
        const auto value = number<std::int64_t>("a whole number that fits", what);
        if (value < least || value > most)
            wrong(word_ + " is out of range for " + what + ": it may be " + std::to_string(least) + " to " +
                  std::to_string(most));
        return value;
    }

    double real(const std::string &what) {
        const auto value = number<double>("a number", what);
        if (!std::isfinite(value))
            wrong("'" + word_ + "' is not finite; expected " + what);
        return value;
    }

    // Of the word that was read last.
    [[noreturn]] void wrong(const std::string &what) const {
        throw failure(path_ + ":" + std::to_string(line_) + ":" + std::to_string(column_) + ": " + what);
    }

    const std::string &word() const { return word_; }

  private:
    static constexpr std::size_t longest = 60; // more of a word is not shown, and is no number

    int take() {
        if (ended_)
            return -1;
        if (position_ == filled_) {
            filled_ = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
            position_ = 0;
            if (std::ferror(file_.get()))
                throw failure("cannot read '" + path_ + "': " + std::strerror(errno));
            if (filled_ == 0) {
                advance();
                ended_ = true;
                return -1;
            }
        }
        advance();
        const int c = static_cast<unsigned char>(buffer_[position_++]);
        after_newline_ = c == '\n';
        return c;
    }

    void advance() {
        if (after_newline_)
            ++at_line_, at_column_ = 1, after_newline_ = false;
        else
            ++at_column_;
    }

    std::string path_;
    open_file file_;
    std::string buffer_;
    std::size_t position_ = 0, filled_ = 0;
    std::uint64_t at_line_ = 1, at_column_ = 0; // of the character that was taken last
    bool after_newline_ = false, ended_ = false;
    std::uint64_t line_ = 1, column_ = 1;
    std::string word_;
};

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
    const open_file file = open(path, "w");
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
    if (std::fflush(out) != 0 || std::ferror(out))
        throw failure("cannot write '" + path + "': " + std::strerror(errno));
}

} // namespace hpccg
