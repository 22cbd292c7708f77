// Random OpenMP tasks that wait in calls that OpenMP does not know: FULT's own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <omp.h>

#include "random_checks.hpp"

// FULT's semaphores, if this runs on FULT.
struct semaphores {
    using sem = struct fult_sem *;
    template <class F> static F *find(const char *name) {
        return reinterpret_cast<F *>(dlsym(RTLD_DEFAULT, name));
    }
    int (*const create)(sem *, std::size_t) = find<int(sem *, std::size_t)>("fult_sem_create");
    int (*const destroy)(sem) = find<int(sem)>("fult_sem_destroy");
    int (*const acquire)(sem) = find<int(sem)>("fult_sem_acquire");
    int (*const release)(sem, std::size_t) = find<int(sem, std::size_t)>("fult_sem_release");
};
inline const semaphores calls;
inline const char *const begins_in_calls = std::getenv("FULT_OMP_BEGIN_IN_BLOCKING_CALLS");
// False too where programs share workers: such a call lets a thread begin tasks of them all.
inline bool may_block = calls.create && !(begins_in_calls && std::strcmp(begins_in_calls, "false") == 0);

// Tasks that wait in calls that OpenMP does not know, some below one that waits for them. Where slots are
// few, a task may run at once, and alone, a foreign thread runs its tasks one after the other.
inline void with_blocking_calls(const program &p, draw d) {
    static const bool few_slots = std::getenv("FULT_MAX_TASKS") != nullptr;
    if (!p.blocks || omp_in_final())
        return;
    const unsigned n = 1 + d.below(20), deep = 1 + d.below(4);
    const bool release_first = d.one_in(2) || few_slots || omp_get_num_threads() == 1;
    semaphores::sem sem{};
    std::atomic<unsigned> ended{0};
    expect(calls.create(&sem, 0) == 0, "a semaphore", p.seed);
    const auto release = [&] {
        for (unsigned i = 0; i < n; ++i)
#pragma omp task shared(sem)
            calls.release(sem, 1);
    };
    const auto acquire = [&] {
        for (unsigned i = 0; i < n; ++i) {
            if (i % deep == 0) {
#pragma omp task shared(sem, ended)
                {
#pragma omp task shared(sem, ended)
                    {
                        calls.acquire(sem);
                        ++ended;
                    }
#pragma omp taskwait
                }
            } else {
#pragma omp task shared(sem, ended)
                {
                    calls.acquire(sem);
                    ++ended;
                }
            }
        }
    };
    if (release_first)
        release();
    acquire();
    if (!release_first)
        release();
#pragma omp taskwait
    expect(ended == n, "tasks that wait in blocking calls", p.seed);
    calls.destroy(sem);
}
