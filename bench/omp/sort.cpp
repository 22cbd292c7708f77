// Merge sort. Runs of 32 numbers are sorted by insertion, and merges of 64 numbers are not divided.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

using number = std::uint32_t;
constexpr std::ptrdiff_t least_run = 32, least_merge = 64;

void insertion_sort(number *a, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 1; i < n; ++i) {
        const number x = a[i];
        std::ptrdiff_t at = i;
        for (; at > 0 && a[at - 1] > x; --at)
            a[at] = a[at - 1];
        a[at] = x;
    }
}

void merge(const number *a, std::ptrdiff_t an, const number *b, std::ptrdiff_t bn, number *out) {
    if (an < bn) {
        std::swap(a, b);
        std::swap(an, bn);
    }
    if (an + bn <= least_merge) {
        std::merge(a, a + an, b, b + bn, out);
        return;
    }
    const std::ptrdiff_t half = an / 2, below = std::lower_bound(b, b + bn, a[half]) - b;
#pragma omp task
    merge(a, half, b, below, out);
#pragma omp task
    merge(a + half, an - half, b + below, bn - below, out + half + below);
#pragma omp taskwait
}

// Sorts a; other has room for as many.
void sort_range(number *a, number *other, std::ptrdiff_t n) {
    if (n <= least_run) {
        insertion_sort(a, n);
        return;
    }
    const std::ptrdiff_t half = n / 2, quarter = half / 2, rest = half + (n - half) / 2;
#pragma omp task
    sort_range(a, other, quarter);
#pragma omp task
    sort_range(a + quarter, other + quarter, half - quarter);
#pragma omp task
    sort_range(a + half, other + half, rest - half);
#pragma omp task
    sort_range(a + rest, other + rest, n - rest);
#pragma omp taskwait
#pragma omp task
    merge(a, quarter, a + quarter, half - quarter, other);
#pragma omp task
    merge(a + half, rest - half, a + rest, n - rest, other + half);
#pragma omp taskwait
    merge(other, half, other + half, n - half, a);
}

struct data {
    std::vector<number> given, sorted, other;
    std::uint64_t sum = 0;
};

} // namespace

job sort(unsigned size) {
    auto d = std::make_shared<data>();
    const std::size_t n = std::size_t{1} << size;
    numbers random(7);
    d->given.resize(n);
    for (number &each : d->given)
        each = static_cast<number>(random.next());
    d->sum = std::accumulate(d->given.begin(), d->given.end(), std::uint64_t{0});
    d->other.resize(n);
    job work;
    work.warm_up = [d] {
        d->sorted.assign(d->given.begin(), d->given.begin() + 1024);
        sort_range(d->sorted.data(), d->other.data(), 1024);
        d->sorted = d->given;
    };
    work.compute = [d] {
        sort_range(d->sorted.data(), d->other.data(), static_cast<std::ptrdiff_t>(d->sorted.size()));
    };
    work.check = [d] {
        const bool ordered = std::is_sorted(d->sorted.begin(), d->sorted.end());
        const std::uint64_t sum = std::accumulate(d->sorted.begin(), d->sorted.end(), std::uint64_t{0});
        d->sorted = d->given;
        return ordered && sum == d->sum ? std::string() : std::string("not the numbers in their order");
    };
    return work;
}

} // namespace bench::omp
