// Operations of OpenMP, so many on one thread, as fult.cpp of this folder has those of FULT. By gcc, on its
// own runtime or on ours in its place.
#include <cstdint>
#include <cstdio>
#include <map>
#include <omp.h>
#include <string>

#include "micro/instructions/command_line.hpp"

namespace {

using operation = std::uint64_t (*)(unsigned long); // returns how many there were

// A call with n >= 2 makes one task.
std::uint64_t tasks_of_fib(unsigned long n) {
    if (n < 2)
        return 0;
    std::uint64_t in_task = 0;
#pragma omp task shared(in_task)
    in_task = tasks_of_fib(n - 1);
    const std::uint64_t here = tasks_of_fib(n - 2);
#pragma omp taskwait
    return in_task + here + 1;
}

// Of so many at a time that descriptors are used again.
std::uint64_t batches_of_tasks(unsigned long n) {
    constexpr unsigned long batch = 64;
    for (unsigned long done = 0; done < n; done += batch) {
        for (unsigned long i = 0; i < batch; ++i) {
#pragma omp task
            asm volatile(""); // or there is no task
        }
#pragma omp taskwait
    }
    return n;
}

std::uint64_t chain_of_tasks(unsigned long n) {
    constexpr unsigned long batch = 64;
    int x = 0;
    for (unsigned long done = 0; done < n; done += batch) {
        for (unsigned long i = 0; i < batch; ++i) {
#pragma omp task depend(inout : x) shared(x)
            ++x;
        }
#pragma omp taskwait
    }
    return static_cast<std::uint64_t>(x);
}

std::uint64_t iterations(unsigned long n) {
    std::uint64_t sum = 0;
#pragma omp for schedule(dynamic, 1)
    for (unsigned long i = 0; i < n; ++i)
        ++sum;
    return sum;
}

std::uint64_t locks(unsigned long n) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (unsigned long i = 0; i < n; ++i) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return n;
}

std::uint64_t regions(unsigned long n) {
    for (unsigned long i = 0; i < n; ++i) {
#pragma omp parallel
        asm volatile(""); // or there is no region
    }
    return n;
}

const std::map<std::string, operation> operations = {
    {"fib", tasks_of_fib}, {"tasks", batches_of_tasks}, {"chain", chain_of_tasks}, {"iterations", iterations},
    {"locks", locks},      {"regions", regions},
};

} // namespace

int main(int argc, char **argv) {
    bench::counted_operation wanted;
    if (const auto status = wanted.read(
            "Prints how many operations were made; for fib COUNT is its argument.", operations, argc, argv))
        return *status;
    omp_set_num_threads(1);
    std::uint64_t done = 0;
    const operation function = operations.at(wanted.name);
    if (wanted.name == "regions") {
        done = function(wanted.count);
    } else {
#pragma omp parallel
        done = function(wanted.count);
    }
    std::printf("%llu\n", static_cast<unsigned long long>(done));
}
