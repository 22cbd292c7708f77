// OpenMP: one thread of a parallel region runs the body, the others take tasks. Built twice, for the runtimes
// of gcc and clang.
#pragma once

#include <exception>

#include "common/kernel.hpp"

namespace bench {

inline const version openmp_version{FULT_BENCH_OPENMP, 0,
                                    [](unsigned workers, const std::function<void()> &body) {
                                        std::exception_ptr error; // must not leave the region
#pragma omp parallel num_threads(workers)
#pragma omp single
                                        try {
                                            body();
                                        } catch (...) {
                                            error = std::current_exception();
                                        }
                                        if (error)
                                            std::rethrow_exception(error);
                                    }};

} // namespace bench
