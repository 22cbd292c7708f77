// The pattern of a tiled Cholesky factorization with tiles of one element: nearly all time is that of tasks
// and their dependences.
#include <cmath>
#include <memory>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

struct matrix {
    std::size_t n;
    std::vector<double> values;
    double &at(std::size_t i, std::size_t j) { return values[i * n + j]; }
};

matrix make_matrix(std::size_t n) {
    matrix m{n, std::vector<double>(n * n)};
    numbers random(23);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j)
            m.at(i, j) = m.at(j, i) = random.fraction();
        m.at(i, i) = static_cast<double>(n);
    }
    return m;
}

void factor(matrix &m) {
    for (std::size_t k = 0; k < m.n; ++k) {
        double *const diagonal = &m.at(k, k);
#pragma omp task depend(inout : *diagonal)
        *diagonal = std::sqrt(*diagonal);
        for (std::size_t i = k + 1; i < m.n; ++i) {
            double *const below = &m.at(i, k);
#pragma omp task depend(in : *diagonal) depend(inout : *below)
            *below /= *diagonal;
        }
        for (std::size_t i = k + 1; i < m.n; ++i) {
            const double *const left = &m.at(i, k);
            for (std::size_t j = k + 1; j <= i; ++j) {
                const double *const above = &m.at(j, k);
                double *const inner = &m.at(i, j);
#pragma omp task depend(in : *left, *above) depend(inout : *inner)
                *inner -= *left * *above;
            }
        }
    }
#pragma omp taskwait
}

void factor_serially(matrix &m) {
    for (std::size_t k = 0; k < m.n; ++k) {
        m.at(k, k) = std::sqrt(m.at(k, k));
        for (std::size_t i = k + 1; i < m.n; ++i)
            m.at(i, k) /= m.at(k, k);
        for (std::size_t i = k + 1; i < m.n; ++i)
            for (std::size_t j = k + 1; j <= i; ++j)
                m.at(i, j) -= m.at(i, k) * m.at(j, k);
    }
}

struct data {
    matrix given, factors, right;
};

// The compilers may fuse a product and a sum in one program and not in the other.
bool same(const matrix &a, const matrix &b) {
    for (std::size_t i = 0; i < a.values.size(); ++i)
        if (std::abs(a.values[i] - b.values[i]) > 1e-9)
            return false;
    return true;
}

} // namespace

job cholesky(unsigned size) {
    auto d = std::make_shared<data>();
    d->given = d->factors = d->right = make_matrix(size);
    factor_serially(d->right);
    job work;
    const std::uint64_t n = size;
    work.tasks = n * (n + 1) * (n + 2) / 6;
    work.warm_up = [] {
        matrix small = make_matrix(8);
        factor(small);
    };
    work.compute = [d] { factor(d->factors); };
    work.check = [d] {
        const bool right = same(d->factors, d->right);
        d->factors = d->given;
        return right ? std::string() : std::string("not the factor of the serial program");
    };
    return work;
}

} // namespace bench::omp
