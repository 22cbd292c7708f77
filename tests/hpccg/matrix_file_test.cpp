// Matrix files: written and read again, and the errors for wrong ones.
#include <cstring>

#include "apps/hpccg/grid.hpp"
#include "apps/hpccg/matrix_file.hpp"
#include "apps/hpccg/serial_execution.hpp"
#include "tests/support/application_files.hpp"

namespace hpccg {
namespace {
using fult::testing::message_of;
using fult::testing::temporary_file;

const serial_execution serial;

problem read(const std::string &path) {
    return read_problem(path, [](problem &made) { touch_problem(serial, made); });
}

template <class T> bool same(const array<T> &a, const array<T> &b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(MatrixFile, IsReadAsItWasWritten) {
    problem given = make_problem(serial, grid(6, 5, 4));
    for (std::size_t i = 0; i < given.matrix.values.size(); ++i)
        given.matrix.values[i] += 1.0 / double(i + 3); // numbers that need all digits
    for (std::size_t i = 0; i < given.guess.size(); ++i)
        given.guess[i] = -1e-300 / double(i + 7), given.solution[i] = 1e300 / double(i + 9);
    const temporary_file file;
    write_problem(file.path(), given);
    const problem again = read(file.path());
    EXPECT_TRUE(same(again.matrix.row_start, given.matrix.row_start));
    EXPECT_TRUE(same(again.matrix.columns, given.matrix.columns));
    EXPECT_TRUE(same(again.matrix.values, given.matrix.values));
    EXPECT_TRUE(same(again.guess, given.guess));
    EXPECT_TRUE(same(again.right, given.right));
    EXPECT_TRUE(same(again.solution, given.solution));
    const temporary_file copy;
    write_problem(copy.path(), again);
    EXPECT_EQ(copy.text(), file.text());
}

TEST(MatrixFile, TakesAnyWhiteSpaceAndSigns) {
    const temporary_file file("2 3 2\t1\r\n2 +2.5e0 0 -1 1\n\n\n  1 4 1\n0 1 1  0 +4 1");
    const problem made = read(file.path());
    EXPECT_EQ(made.rows(), 2);
    EXPECT_EQ(made.matrix.entries(), 3);
    EXPECT_EQ(made.matrix.values[0], 2.5);
    EXPECT_EQ(made.matrix.values[1], -1.0);
    EXPECT_EQ(made.matrix.columns[2], 1);
    EXPECT_EQ(made.right[1], 4.0);
    EXPECT_EQ(made.solution[1], 1.0);
}

struct wrong_file {
    const char *name, *text, *message;
};
void PrintTo(const wrong_file &file, std::ostream *out) { *out << file.name; }

class WrongFile : public ::testing::TestWithParam<wrong_file> {};

TEST_P(WrongFile, IsNamedWithLineAndColumn) {
    const temporary_file file(GetParam().text);
    EXPECT_EQ(message_of([&] { read(file.path()); }), file.path() + GetParam().message);
}

const wrong_file wrong_files[] = {
    {"Empty", "", ":1:1: the file ends where the number of rows should be"},
    {"OnlyRows", "2\n", ":2:1: the file ends where the number of entries should be"},
    {"Word", "2 x\n", ":1:3: 'x' is not a whole number that fits; expected the number of entries"},
    {"Fraction", "2.5 3\n", ":1:1: '2.5' is not a whole number that fits; expected the number of rows"},
    {"Huge", "99999999999999999999 1",
     ":1:1: '99999999999999999999' is not a whole number that fits; expected the "
     "number of rows"},
    {"NoRows", "0 0", ":1:1: 0 is out of range for the number of rows: it may be 1 to 2147483647"},
    {"NegativeEntries", "2 -1", ":1:3: -1 is out of range for the number of entries: it may be 0 to 4"},
    {"MoreEntriesThanPlaces", "2 5", ":1:3: 5 is out of range for the number of entries: it may be 0 to 4"},
    {"MoreThanTheFileHolds", "100000 100000 1 1",
     ":1:8: the file declares 100000 rows and 100000 entries, but it has only 17 characters"},
    {"RowTooLong", "2 3\n2\n3\n2 1 0 1 1 1 1 1\n0 1 1 0 1 1",
     ":3:1: 3 is out of range for the number of entries of row 1: it may be 0 to 2"},
    {"RowsTooLong", "2 3\n2\n2\n2 1 0 1 1 2 1 0 1 1\n0 1 1 0 1 1",
     ":3:1: rows 0 to 1 have 4 entries together, but the file declares 3"},
    {"RowsTooShort", "2 3\n1\n1\n1 1 0 1 1 1\n0 1 1 0 1 1",
     ":3:1: all rows have 2 entries together, but the file declares 3"},
    {"CountsDiffer", "2 3\n2\n1\n1 1 0\n2 1 0 1 1\n0 1 1 0 1 1",
     ":4:1: row 0 has 1 entries here, but 2 in the list of all rows"},
    {"ColumnTooLarge", "2 2\n1\n1\n1 5.5 0\n1  5.5 2\n0 1 1 0 1 1",
     ":5:8: 2 is out of range for a column of row 1: it may be 0 to 1"},
    {"NoNumber", "2 2\n1\n1\n1 5,5 0\n1 5.5 1\n0 1 1 0 1 1",
     ":4:3: '5,5' is not a number; expected a value of row 0"},
    {"NotFinite", "2 2\n1\n1\n1 inf 0\n1 5.5 1\n0 1 1 0 1 1",
     ":4:3: 'inf' is not finite; expected a value of row 0"},
    {"NoSolution", "2 2\n1\n1\n1 5.5 0\n1 5.5 1\n0 1 1 0 1",
     ":6:10: the file ends where the exact solution of row 1 should be"},
    {"TooMuch", "2 2\n1\n1\n1 5.5 0\n1 5.5 1\n0 1 1\n0 1 1\n  more",
     ":8:3: 'more' comes after the end of the matrix; remove what is too much"},
};
INSTANTIATE_TEST_SUITE_P(All, WrongFile, ::testing::ValuesIn(wrong_files),
                         [](const auto &about) { return about.param.name; });

TEST(MatrixFile, CannotBeOpened) {
    EXPECT_EQ(message_of([] { read("/nowhere/matrix.txt"); }),
              "cannot read '/nowhere/matrix.txt': No such file or directory");
    EXPECT_EQ(message_of([] { read("/"); }), "cannot read '/': Is a directory");
    const problem given = make_problem(serial, grid(1, 1, 1));
    EXPECT_EQ(message_of([&] { write_problem("/nowhere/matrix.txt", given); }),
              "cannot write '/nowhere/matrix.txt': No such file or directory");
    EXPECT_EQ(message_of([&] { write_problem("/dev/full", given); }),
              "cannot write '/dev/full': No space left on device");
}
} // namespace
} // namespace hpccg
