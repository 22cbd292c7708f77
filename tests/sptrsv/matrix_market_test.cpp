// Matrix Market files: written and read again, and the errors for wrong ones.
#include "apps/sptrsv/matrix_market.hpp"
#include "support.hpp"

namespace sptrsv {
namespace {
using testing::message_of;
using testing::small;
using testing::systems;
using testing::temporary_file;

TEST(MatrixMarket, IsReadAsItWasWritten) {
    for (triangle each : systems()) {
        for (std::size_t k = 0; k < each.values.size(); ++k)
            each.values[k] += 1.0 / double(k + 3); // numbers that need all digits
        const temporary_file file;
        write_matrix_market(file.path(), each);
        EXPECT_EQ(read_matrix_market(file.path()), each);
    }
}

TEST(MatrixMarket, HasEntriesInAnyOrderAndComments) {
    const temporary_file file(
        "%%MatrixMarket MATRIX Coordinate Real General\n% first\n\n%\n  %% last 4 4 7\n4 4 7\n"
        "4 3 6\n1 1 +4.0e0\r\n2 1 1\t4 1 3\n\n4 4 8\n3 3 5\n2 2 2");
    EXPECT_EQ(read_matrix_market(file.path()), small());
}

TEST(MatrixMarket, MayBeSymmetricAndWhole) {
    const temporary_file file("%%MatrixMarket matrix coordinate integer symmetric\n4 4 7\n"
                              "1 1 4\n2 1 1\n2 2 2\n3 3 5\n4 1 3\n4 3 6\n4 4 8\n");
    EXPECT_EQ(read_matrix_market(file.path()), small());
}

TEST(MatrixMarket, MayBeAPattern) {
    const temporary_file file(
        "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n3 3\n4 1\n4 3\n");
    triangle expected = small();
    expected.values = {-1, -1, -1};
    expected.diagonal = {3, 2, 2, 3};
    EXPECT_EQ(read_matrix_market(file.path()), expected);
}

struct wrong_file {
    const char *name, *text, *message;
};
void PrintTo(const wrong_file &file, std::ostream *out) { *out << file.name; }

class WrongFile : public ::testing::TestWithParam<wrong_file> {};

TEST_P(WrongFile, IsNamedWithItsLine) {
    const temporary_file file(GetParam().text);
    EXPECT_EQ(message_of([&] { read_matrix_market(file.path()); }), file.path() + GetParam().message);
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"
const wrong_file wrong_files[] = {
    {"Empty", "", ":1:1: a file of the Matrix Market begins with %%MatrixMarket"},
    {"NoBanner", "3 3 3\n", ":1:1: a file of the Matrix Market begins with %%MatrixMarket"},
    {"Dense", "%%MatrixMarket matrix array real general\n",
     ":1:23: the format is 'array', but this program reads coordinate; convert the file"},
    {"Complex", "%%MatrixMarket matrix coordinate complex general\n",
     ":1:34: the field is 'complex', but this program reads real, integer, pattern; convert the file"},
    {"Skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n",
     ":1:39: the symmetry is 'skew-symmetric', but this program reads general, symmetric; convert the file"},
    {"OnlyComments", BANNER "% nothing\n", ":3:1: the file ends where the number of rows should be"},
    {"NoRows", BANNER "0 0 0\n", ":2:1: 0 is out of range for the number of rows: it may be 1 to 2147483647"},
    {"NotSquare", BANNER "3 4 1\n1 1 1\n",
     ":2:3: the matrix has 3 rows and 4 columns; a triangular system has a square one"},
    {"TooManyEntries", BANNER "2 2 4\n",
     ":2:5: 4 is out of range for the number of entries: it may be 0 to 3"},
    {"MoreThanTheFileHolds", BANNER "1000 1000 1000\n1 1 1\n",
     ":2:11: the file declares 1000 entries, but it has only 67 characters"},
    {"Missing", BANNER "2 2 3\n1 1 1\n2 2 1\n", ":5:1: the file ends where the row of an entry should be"},
    {"NoValue", BANNER "2 2 2\n1 1 1\n2 2\n", ":5:1: the file ends where the value of an entry should be"},
    {"RowTooLarge", BANNER "2 2 2\n1 1 1\n3 2 1\n",
     ":4:1: 3 is out of range for the row of an entry: it may be 1 to 2"},
    {"Above", BANNER "2 2 3\n1 1 1\n1 2 5\n2 2 1\n",
     ":4:3: the entry (1, 2) is above the diagonal; give a lower triangular matrix, for example the "
     "transpose"},
    {"AboveSymmetric", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n1 2 5\n2 2 1\n",
     ":4:3: the entry (1, 2) is above the diagonal; a symmetric matrix is stored as its lower triangle"},
    {"NoNumber", BANNER "2 2 2\n1 1 x\n2 2 1\n", ":3:5: 'x' is not a number; expected the value of an entry"},
    {"NotFinite", BANNER "2 2 2\n1 1 nan\n2 2 1\n",
     ":3:5: 'nan' is not finite; expected the value of an entry"},
    {"ZeroInTheDiagonal", BANNER "2 2 2\n1 1 1\n2 2 0\n",
     ":4:5: the entry (2, 2) is zero, and the system has no unique solution; the diagonal must not have "
     "zeros"},
    {"NoDiagonal", BANNER "3 3 3\n1 1 1\n3 3 1\n3 1 1\n",
     ": row 2 has no entry in the diagonal, and the system has no unique solution; add one"},
    {"Twice", BANNER "2 2 3\n2 2 1\n1 1 1\n2 2 1\n", ":5: the entry (2, 2) is in line 3, too; remove one"},
    {"TooMuch", BANNER "1 1 1\n1 1 1\n2 2 2\n",
     ":4:1: '2' comes after the last of 1 entries; remove it, or correct their number"},
};
#undef BANNER
INSTANTIATE_TEST_SUITE_P(All, WrongFile, ::testing::ValuesIn(wrong_files),
                         [](const auto &about) { return about.param.name; });

TEST(MatrixMarket, CannotBeOpened) {
    EXPECT_EQ(message_of([] { read_matrix_market("/nowhere/matrix.mtx"); }),
              "cannot read '/nowhere/matrix.mtx': No such file or directory");
    EXPECT_EQ(message_of([] { write_matrix_market("/dev/full", small()); }),
              "cannot write '/dev/full': No space left on device");
}

} // namespace
} // namespace sptrsv
