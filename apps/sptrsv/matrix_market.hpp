// Files of the Matrix Market (R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market exchange formats:
// initial design", 1996).
#pragma once

#include <string>

#include "triangle.hpp"

namespace sptrsv {

// Reads a lower triangular matrix, or the lower triangle of a symmetric one, as coordinates with real,
// integer or no values (pattern). A pattern gets -1 beside the diagonal, which it need not have; the diagonal
// is 1 more than the number of other entries in row and column of the symmetric matrix. Throws a failure that
// names the file and, where its text is wrong, line and column.
triangle read_matrix_market(const std::string &path);

// With all digits: reading it again gives the same numbers. Throws a failure that names the file.
void write_matrix_market(const std::string &path, const triangle &given);

} // namespace sptrsv
