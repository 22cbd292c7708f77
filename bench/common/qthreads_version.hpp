// Qthreads: a shepherd a worker, or as many workers in one shepherd as the scheduler likes best (its
// default).
#pragma once

#include <cstdlib>
#include <qthread/qthread.h>
#include <stdexcept>
#include <string>

#include "common/kernel.hpp"

namespace bench {

// A variable that is empty until a task fills it. (The initialiser in its header is C.)
inline syncvar_t empty_syncvar() noexcept {
    syncvar_t v{};
    v.u.s.state = 2;
    return v;
}

// It reads its set-up from the environment alone.
inline void run_qthreads(unsigned workers, const std::function<void()> &body) {
    setenv("QTHREAD_HWPAR", std::to_string(workers).c_str(), 1);
    // Its default of 4 KiB is too small for the C library; 16 KiB is what Argobots takes.
    setenv("QTHREAD_STACK_SIZE", "16384", 0);
    if (qthread_initialize() != QTHREAD_SUCCESS)
        throw std::runtime_error("qthread_initialize failed");
    if (qthread_num_workers() != workers)
        throw std::runtime_error("Qthreads started " + std::to_string(qthread_num_workers()) + " workers");
    body();
    qthread_finalize();
}

inline const version qthreads_version{"qthreads", 0, run_qthreads};

} // namespace bench
