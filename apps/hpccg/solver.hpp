// Conjugate gradients without preconditioning.
#pragma once

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace hpccg {

struct seconds {
    double total = 0, ddot = 0, waxpby = 0, sparsemv = 0;
};

struct result {
    array<double> x;
    std::vector<double> residuals; // [0]: of the guess; [k]: when iteration k began, as the original counts
    int iterations = 0;
    seconds times;

    double final_residual() const { return residuals.back(); }
};

// The original's limit of 150 ends it after so many.
inline constexpr int usual_iterations = 149;

namespace detail {
inline double clock_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Adds the time of a call.
template <class Call> void timed(double &sum, Call call) {
    const double start = clock_seconds();
    call();
    sum += clock_seconds() - start;
}
} // namespace detail

// Takes as many iterations as asked for, less where the residual becomes zero. Throws a failure where the
// matrix shows that it is not positive definite.
template <class Execution>
result solve(const Execution &execution, const problem &given, int iterations = usual_iterations) {
    using detail::timed;
    const double begin = detail::clock_seconds();
    const std::int64_t rows = given.rows();
    const auto vector = [&](std::int64_t more = 0) {
        array<double> made{std::size_t(rows + more)};
        touch(execution, made, rows);
        return made;
    };
    result out;
    out.x = vector();
    array<double> r = vector(), p = vector(given.outside), ap = vector();
    array<double> partial(std::size_t(block_count(rows)));
    double *const x = out.x.data();
    const auto dot = [&](const array<double> &a, const array<double> &b) {
        double value = 0;
        timed(out.times.ddot, [&] { value = ddot(execution, rows, a.data(), b.data(), partial); });
        return value;
    };
    const auto add = [&](double a, const double *u, double b, const double *v, double *w) {
        timed(out.times.waxpby, [&] { waxpby(execution, rows, a, u, b, v, w); });
    };
    const auto multiply = [&] {
        timed(out.times.sparsemv, [&] {
            if constexpr (requires { execution.bring_outside(p.data()); })
                execution.bring_outside(p.data());
            sparsemv(execution, given.matrix, p.data(), ap.data());
        });
    };

    add(1.0, given.guess.data(), 0.0, given.guess.data(), x);
    add(1.0, x, 0.0, x, p.data());
    multiply();
    add(1.0, given.right.data(), -1.0, ap.data(), r.data());
    double rr = dot(r, r);
    out.residuals.push_back(std::sqrt(rr));
    for (int k = 1; k <= iterations && rr > 0; ++k) {
        if (k == 1) {
            add(1.0, r.data(), 0.0, r.data(), p.data());
        } else {
            const double before = std::exchange(rr, dot(r, r));
            add(1.0, r.data(), rr / before, p.data(), p.data());
        }
        out.residuals.push_back(std::sqrt(rr));
        out.iterations = k;
        if (rr == 0)
            break;
        multiply();
        const double curvature = dot(p, ap);
        if (curvature == 0 && rr < 1e-290)
            break; // nothing is left that doubles can tell from zero
        if (!(curvature > 0) || !std::isfinite(curvature))
            throw failure(
                "in iteration " + std::to_string(k) +
                " the matrix shows that it is not positive definite; conjugate gradients need one that is "
                "symmetric and positive definite");
        const double alpha = rr / curvature;
        add(1.0, x, alpha, p.data(), x);
        add(1.0, r.data(), -alpha, ap.data(), r.data());
    }
    out.times.total = detail::clock_seconds() - begin;
    return out;
}

struct verdict {
    double difference; // the largest between a number found and the exact one
    double scale;      // the largest of the exact solution
    bool right() const { return difference <= 1e-8 * scale; } // false also where it is not a number
};

// NaN is passed on, so that it is not right.
inline verdict compare(const array<double> &x, const array<double> &exact) {
    verdict found{0, 0};
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = std::fabs(x[i] - exact[i]);
        if (!(difference <= found.difference))
            found.difference = difference;
        found.scale = std::max(found.scale, std::fabs(exact[i]));
        if (std::isnan(found.difference))
            break;
    }
    return found;
}

} // namespace hpccg
