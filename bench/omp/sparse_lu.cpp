// LU factors of a sparse matrix of blocks, right-looking and without pivoting: a task an operation on a
// block, ordered by dependences on the blocks alone. Empty blocks fill in as they are updated.
#include <memory>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

constexpr std::size_t rows = 16; // of a block

using block = std::vector<double>; // empty: all zero

struct matrix {
    std::size_t blocks;
    std::vector<block> parts;
    block &at(std::size_t i, std::size_t j) { return parts[i * blocks + j]; }
};

bool is_given(std::size_t i, std::size_t j) noexcept {
    return i == j || i + 1 == j || j + 1 == i || (i * 7 + j * 3) % 5 == 0;
}

matrix make_matrix(std::size_t blocks) {
    matrix m{blocks, std::vector<block>(blocks * blocks)};
    numbers random(17);
    for (std::size_t i = 0; i < blocks; ++i)
        for (std::size_t j = 0; j < blocks; ++j)
            if (is_given(i, j)) {
                m.at(i, j).resize(rows * rows);
                for (double &each : m.at(i, j))
                    each = random.fraction() - 0.5;
                for (std::size_t k = 0; i == j && k < rows; ++k) // diagonally dominant
                    m.at(i, i)[k * rows + k] += static_cast<double>(blocks * rows);
            }
    return m;
}

void factor(double *a) {
    for (std::size_t k = 0; k < rows; ++k)
        for (std::size_t i = k + 1; i < rows; ++i) {
            a[i * rows + k] /= a[k * rows + k];
            for (std::size_t j = k + 1; j < rows; ++j)
                a[i * rows + j] -= a[i * rows + k] * a[k * rows + j];
        }
}

// row = L^-1 * row, with the diagonal block's L.
void solve_row(const double *diagonal, double *row) {
    for (std::size_t k = 0; k < rows; ++k)
        for (std::size_t i = k + 1; i < rows; ++i)
            for (std::size_t j = 0; j < rows; ++j)
                row[i * rows + j] -= diagonal[i * rows + k] * row[k * rows + j];
}

// column = column * U^-1, with the diagonal block's U.
void solve_column(const double *diagonal, double *column) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < rows; ++k) {
            column[i * rows + k] /= diagonal[k * rows + k];
            for (std::size_t j = k + 1; j < rows; ++j)
                column[i * rows + j] -= column[i * rows + k] * diagonal[k * rows + j];
        }
}

void update(const double *column, const double *row, double *inner) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < rows; ++k)
            for (std::size_t j = 0; j < rows; ++j)
                inner[i * rows + j] -= column[i * rows + k] * row[k * rows + j];
}

// Returns the number of tasks.
std::uint64_t decompose(matrix &m) {
    std::uint64_t tasks = 0;
    for (std::size_t k = 0; k < m.blocks; ++k) {
        double *const diagonal = m.at(k, k).data();
#pragma omp task depend(inout : diagonal[0])
        factor(diagonal);
        ++tasks;
        for (std::size_t j = k + 1; j < m.blocks; ++j)
            if (double *const row = m.at(k, j).data(); !m.at(k, j).empty()) {
#pragma omp task depend(in : diagonal[0]) depend(inout : row[0])
                solve_row(diagonal, row);
                ++tasks;
            }
        for (std::size_t i = k + 1; i < m.blocks; ++i)
            if (double *const column = m.at(i, k).data(); !m.at(i, k).empty()) {
#pragma omp task depend(in : diagonal[0]) depend(inout : column[0])
                solve_column(diagonal, column);
                ++tasks;
            }
        for (std::size_t i = k + 1; i < m.blocks; ++i)
            for (std::size_t j = k + 1; j < m.blocks; ++j) {
                if (m.at(i, k).empty() || m.at(k, j).empty())
                    continue;
                if (m.at(i, j).empty())
                    m.at(i, j).resize(rows * rows);
                const double *const column = m.at(i, k).data(), *const row = m.at(k, j).data();
                double *const inner = m.at(i, j).data();
#pragma omp task depend(in : column[0], row[0]) depend(inout : inner[0])
                update(column, row, inner);
                ++tasks;
            }
    }
#pragma omp taskwait
    return tasks;
}

void decompose_serially(matrix &m) {
    for (std::size_t k = 0; k < m.blocks; ++k) {
        factor(m.at(k, k).data());
        for (std::size_t j = k + 1; j < m.blocks; ++j)
            if (!m.at(k, j).empty())
                solve_row(m.at(k, k).data(), m.at(k, j).data());
        for (std::size_t i = k + 1; i < m.blocks; ++i)
            if (!m.at(i, k).empty())
                solve_column(m.at(k, k).data(), m.at(i, k).data());
        for (std::size_t i = k + 1; i < m.blocks; ++i)
            for (std::size_t j = k + 1; j < m.blocks; ++j)
                if (!m.at(i, k).empty() && !m.at(k, j).empty()) {
                    m.at(i, j).resize(rows * rows);
                    update(m.at(i, k).data(), m.at(k, j).data(), m.at(i, j).data());
                }
    }
}

struct data {
    matrix given, factors, right;
    std::uint64_t tasks = 0;
};

} // namespace

job sparse_lu(unsigned size) {
    auto d = std::make_shared<data>();
    d->given = d->factors = d->right = make_matrix(size);
    decompose_serially(d->right);
    job work;
    work.warm_up = [d] {
        matrix small = make_matrix(4);
        decompose(small);
    };
    work.compute = [d] { d->tasks = decompose(d->factors); };
    work.check = [d] {
        const bool same = d->factors.parts == d->right.parts;
        d->factors = d->given;
        return same ? std::string() : std::string("not the factors of the serial program");
    };
    work.done = [d] { return d->tasks; };
    return work;
}

} // namespace bench::omp
