// Fast Fourier transform, radix 2, decimation in time: a task for each half, down to two points.
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

using point = std::complex<double>;

struct data {
    std::vector<point> given, result, roots;
};

// The transform of n points, `step` apart. roots: of the whole transform.
void transform(const point *in, std::size_t step, point *out, std::size_t n, const point *roots) {
    if (n == 2) {
        out[0] = in[0] + in[step];
        out[1] = in[0] - in[step];
        return;
    }
    const std::size_t half = n / 2;
#pragma omp task
    transform(in, 2 * step, out, half, roots);
#pragma omp task
    transform(in + step, 2 * step, out + half, half, roots);
#pragma omp taskwait
    for (std::size_t i = 0; i < half; ++i) {
        const point w = roots[i * step], a = out[i], b = out[half + i];
        const point odd(w.real() * b.real() - w.imag() * b.imag(), w.real() * b.imag() + w.imag() * b.real());
        out[i] = a + odd;
        out[half + i] = a - odd;
    }
}

// One point of the transform, by its definition.
point directly(const data &d, std::size_t at) {
    const std::size_t n = d.given.size();
    point sum = 0;
    for (std::size_t i = 0; i < n; ++i)
        sum += d.given[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * at % n) /
                                                static_cast<double>(n));
    return sum;
}

std::string check(const data &d) {
    const std::size_t n = d.given.size();
    for (const std::size_t at : {std::size_t{1}, n / 3, n - 1})
        if (std::abs(d.result[at] - directly(d, at)) > 1e-7 * std::sqrt(static_cast<double>(n)))
            return "point " + std::to_string(at) + " is wrong";
    return {};
}

} // namespace

job fft(unsigned size) {
    auto d = std::make_shared<data>();
    const std::size_t n = std::size_t{1} << size;
    numbers random(3);
    d->given.resize(n);
    d->result.resize(n);
    d->roots.resize(n / 2);
    for (point &each : d->given)
        each = point(random.fraction() - 0.5, random.fraction() - 0.5);
    for (std::size_t i = 0; i < n / 2; ++i)
        d->roots[i] =
            std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
    job work;
    work.tasks = n - 2;
    work.warm_up = [d, n] {
        const std::size_t few = n < 1024 ? n : 1024;
        transform(d->given.data(), n / few, d->result.data(), few, d->roots.data());
    };
    work.compute = [d, n] { transform(d->given.data(), 1, d->result.data(), n, d->roots.data()); };
    work.check = [d] { return check(*d); };
    return work;
}

} // namespace bench::omp
