// Strassen's product: seven products of half the size, each a task. Blocks of 16 rows are multiplied
// directly.
#include <cmath>
#include <memory>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

constexpr std::size_t least_block = 16;

// A square part of a matrix.
struct block {
    double *at;
    std::size_t stride;
    block part(std::size_t half, std::size_t row, std::size_t column) const noexcept {
        return {at + row * half * stride + column * half, stride};
    }
    double &operator()(std::size_t row, std::size_t column) const noexcept {
        return at[row * stride + column];
    }
};

void multiply_directly(block c, block a, block b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            c(i, j) = 0;
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < n; ++j)
                c(i, j) += a(i, k) * b(k, j);
    }
}

// out = x + sign * y
void add(block out, block x, block y, double sign, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            out(i, j) = x(i, j) + sign * y(i, j);
}

void multiply(block c, block a, block b, std::size_t n) {
    if (n <= least_block) {
        multiply_directly(c, a, b, n);
        return;
    }
    const std::size_t h = n / 2;
    std::vector<double> memory(17 * h * h);
    const auto scratch = [&](std::size_t i) { return block{memory.data() + i * h * h, h}; };
    const block a11 = a.part(h, 0, 0), a12 = a.part(h, 0, 1), a21 = a.part(h, 1, 0), a22 = a.part(h, 1, 1);
    const block b11 = b.part(h, 0, 0), b12 = b.part(h, 0, 1), b21 = b.part(h, 1, 0), b22 = b.part(h, 1, 1);
    // Factors of the products that are no blocks of a or b.
    const struct {
        block to, x, y;
        double sign;
    } sums[] = {{scratch(7), a11, a22, 1},   {scratch(8), b11, b22, 1},   {scratch(9), a21, a22, 1},
                {scratch(10), b12, b22, -1}, {scratch(11), b21, b11, -1}, {scratch(12), a11, a12, 1},
                {scratch(13), a21, a11, -1}, {scratch(14), b11, b12, 1},  {scratch(15), a12, a22, -1},
                {scratch(16), b21, b22, 1}};
    for (const auto &each : sums)
        add(each.to, each.x, each.y, each.sign, h);
    const struct {
        block to, x, y;
    } products[] = {{scratch(0), scratch(7), scratch(8)},  {scratch(1), scratch(9), b11},
                    {scratch(2), a11, scratch(10)},        {scratch(3), a22, scratch(11)},
                    {scratch(4), scratch(12), b22},        {scratch(5), scratch(13), scratch(14)},
                    {scratch(6), scratch(15), scratch(16)}};
    for (const auto &each : products) {
#pragma omp task firstprivate(each, h)
        multiply(each.to, each.x, each.y, h);
    }
#pragma omp taskwait
    const block p1 = scratch(0), p2 = scratch(1), p3 = scratch(2), p4 = scratch(3), p5 = scratch(4),
                p6 = scratch(5), p7 = scratch(6);
    const block c11 = c.part(h, 0, 0), c12 = c.part(h, 0, 1), c21 = c.part(h, 1, 0), c22 = c.part(h, 1, 1);
    for (std::size_t i = 0; i < h; ++i)
        for (std::size_t j = 0; j < h; ++j) {
            c11(i, j) = p1(i, j) + p4(i, j) - p5(i, j) + p7(i, j);
            c12(i, j) = p3(i, j) + p5(i, j);
            c21(i, j) = p2(i, j) + p4(i, j);
            c22(i, j) = p1(i, j) - p2(i, j) + p3(i, j) + p6(i, j);
        }
}

struct data {
    std::vector<double> a, b, c;
};

// Some elements, against their definition.
std::string check(const data &d, std::size_t n) {
    numbers random(11);
    for (int each = 0; each < 200; ++each) {
        const std::size_t i = random.next() % n, j = random.next() % n;
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k)
            sum += d.a[i * n + k] * d.b[k * n + j];
        if (std::abs(sum - d.c[i * n + j]) > 1e-8 * static_cast<double>(n))
            return "element " + std::to_string(i) + ", " + std::to_string(j) + " is wrong";
    }
    return {};
}

} // namespace

job strassen(unsigned size) {
    auto d = std::make_shared<data>();
    const std::size_t n = std::size_t{1} << size;
    numbers random(5);
    d->c.resize(n * n);
    for (auto *matrix : {&d->a, &d->b}) {
        matrix->resize(n * n);
        for (double &each : *matrix)
            each = random.fraction() - 0.5;
    }
    job work;
    for (std::size_t rows = n, products = 1; rows > least_block; rows /= 2)
        work.tasks += products *= 7;
    const auto run = [d, n](std::size_t rows) {
        multiply({d->c.data(), n}, {d->a.data(), n}, {d->b.data(), n}, rows);
    };
    work.warm_up = [run, n] { run(n < 64 ? n : 64); };
    work.compute = [run, n] { run(n); };
    work.check = [d, n] { return check(*d, n); };
    return work;
}

} // namespace bench::omp
