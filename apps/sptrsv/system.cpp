#include "system.hpp"

#include <utility>

#include "incomplete_cholesky.hpp"
#include "matrix_market.hpp"

namespace sptrsv {
namespace {

std::string describe(const command_line &wanted) {
    std::string name = wanted.matrix_file;
    if (wanted.points) {
        const grid &of = *wanted.points;
        name = "grid " + std::to_string(of.nx) + " x " + std::to_string(of.ny) +
               (of.nz > 1 ? " x " + std::to_string(of.nz) : "") +
               (of.around == stencil::star ? ", star" : ", box") +
               (of.numbers == order::natural ? ", natural order" : ", nested dissection");
    }
    return name + (wanted.made == factor::ic0 ? ", IC(0) factor" : ", lower triangle") +
           (wanted.backward ? ", backward" : ", forward");
}

} // namespace

linear_system make_system(const command_line &wanted) {
    linear_system made;
    made.name = describe(wanted);
    made.matrix = wanted.points ? laplacian(*wanted.points) : read_matrix_market(wanted.matrix_file);
    if (wanted.made == factor::ic0)
        made.matrix = incomplete_cholesky(made.matrix);
    if (!wanted.written_file.empty())
        write_matrix_market(wanted.written_file, made.matrix);
    if (wanted.backward)
        made.matrix = reversed_transpose(made.matrix);
    std::vector<double> solution;
    for (index row = 0; row < made.matrix.rows(); ++row)
        solution.push_back(1 + row % 8 / 8.0);
    made.right = multiply(made.matrix, solution);
    return made;
}

} // namespace sptrsv
