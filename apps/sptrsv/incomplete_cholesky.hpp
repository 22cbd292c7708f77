// Incomplete factors of symmetric matrices.
#pragma once

#include "triangle.hpp"

namespace sptrsv {

// The incomplete Cholesky factor without fill, IC(0), of the symmetric positive definite matrix that has this
// lower triangle: its entries are where those of the triangle are (J. A. Meijerink, H. A. van der Vorst, "An
// iterative solution method for linear systems of which the coefficient matrix is a symmetric M-matrix",
// 1977). Throws a failure that names the row where the factorization breaks down.
triangle incomplete_cholesky(const triangle &of);

} // namespace sptrsv
