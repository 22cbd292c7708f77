// The kernels of OpenMP tasks, one a file. Each spawns a task for each step of its recursion or each block of
// data. Where small parts are not divided, the file names their size.
#pragma once

#include <cstddef>
#include <span>

#include "common/kernel.hpp"

namespace bench::omp {

struct kernel {
    const char *name;
    const char *about;
    unsigned size; // default; what it counts: `about`
    job (*make)(unsigned size);
};

job sort(unsigned size);
job fft(unsigned size);
job strassen(unsigned size);
job sparse_lu(unsigned size);
job simulation(unsigned size);
job cholesky(unsigned size);
job wavefront(unsigned size);

inline constexpr kernel kernels[] = {
    {"sort", "merge sort of 2^SIZE numbers, the merges in tasks as well", 22, sort},
    {"fft", "fast Fourier transform of 2^SIZE points by halves", 20, fft},
    {"strassen", "Strassen's product of matrices of 2^SIZE rows", 9, strassen},
    {"sparse_lu", "LU factors of a sparse matrix of SIZE x SIZE blocks, with depend", 48, sparse_lu},
    {"simulation", "patients in the queues of a tree of hospitals, SIZE steps", 365, simulation},
    {"cholesky", "Cholesky factor of a SIZE x SIZE matrix, a task an update, with depend", 182, cholesky},
    {"wavefront", "shortest path through SIZE x SIZE cells, a task a cell, with depend", 1000, wavefront},
};

// Pseudo-random numbers (SplitMix64), the same with each compiler.
class numbers {
  public:
    explicit numbers(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint64_t next() noexcept {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

} // namespace bench::omp
