#include "omp/overheads.hpp"

#include <omp.h>
#include <vector>

#include "common/clock.hpp"
#include "common/record.hpp"

namespace bench::omp {
namespace {

constexpr int repetitions = 400, iterations = 128, samples = 15;

// A tenth of a microsecond, more or less.
void delay() {
    for (unsigned i = 0; i < 100; ++i) {
        unsigned kept = i;
        keep(kept);
    }
}

// Seconds of one call, the median of some samples.
template <class Body> double seconds_of(Body body) {
    body();
    std::vector<double> all;
    for (int i = 0; i < samples; ++i)
        all.push_back(timed(body));
    return median(all) / repetitions;
}

double reference() {
    return seconds_of([] {
        for (int i = 0; i < repetitions; ++i)
            delay();
    });
}

double reference_of_loop() {
    return seconds_of([] {
        for (int i = 0; i < repetitions; ++i)
            for (int j = 0; j < iterations; ++j)
                delay();
    });
}

double parallel(int threads) {
    return seconds_of([threads] {
        for (int i = 0; i < repetitions; ++i)
#pragma omp parallel num_threads(threads)
            delay();
    });
}

double parallel_with_reduction(int threads) {
    return seconds_of([threads] {
        int sum = 0;
        for (int i = 0; i < repetitions; ++i)
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            delay();
            ++sum;
        }
        keep(sum);
    });
}

// The construct is bound to the region around its call.
template <class Construct> double in_region(int threads, Construct construct) {
    return seconds_of([threads, construct] {
#pragma omp parallel num_threads(threads)
        for (int i = 0; i < repetitions; ++i)
            construct();
    });
}

double barrier(int threads) {
    return in_region(threads, [] {
        delay();
#pragma omp barrier
    });
}

double single(int threads) {
    return in_region(threads, [] {
#pragma omp single
        delay();
    });
}

double static_loop(int threads) {
    return in_region(threads, [threads] {
#pragma omp for schedule(static)
        for (int j = 0; j < iterations * threads; ++j)
            delay();
    });
}

double dynamic_loop(int threads) {
    return in_region(threads, [threads] {
#pragma omp for schedule(dynamic)
        for (int j = 0; j < iterations * threads; ++j)
            delay();
    });
}

double guided_loop(int threads) {
    return in_region(threads, [threads] {
#pragma omp for schedule(guided)
        for (int j = 0; j < iterations * threads; ++j)
            delay();
    });
}

// A region of two threads, each of which opens one of two.
double nested() {
    omp_set_max_active_levels(2);
    const double each = seconds_of([] {
        for (int i = 0; i < repetitions / 20; ++i)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
            delay();
    });
    omp_set_max_active_levels(1);
    return each * 20;
}

void print(const kernel_settings &settings, const char *name, double seconds) {
    record out;
    out.add("benchmark", "omp_overheads").add("case", name).add("workers", settings.workers);
    out.add("value", seconds * 1e6).add("unit", "us");
    out.print();
}

} // namespace

int measure_overheads(const kernel_settings &settings) {
    const int threads = static_cast<int>(settings.workers);
    const double one = reference(), loop = reference_of_loop();
    print(settings, "parallel", parallel(threads) - one);
    print(settings, "parallel, reduction", parallel_with_reduction(threads) - one);
    print(settings, "barrier", barrier(threads) - one);
    print(settings, "single", single(threads) - one);
    print(settings, "for, static", static_loop(threads) - loop);
    print(settings, "for, dynamic", dynamic_loop(threads) - loop);
    print(settings, "for, guided", guided_loop(threads) - loop);
    print(settings, "parallel, nested 2 x 2", nested() - one);
    return 0;
}

} // namespace bench::omp
