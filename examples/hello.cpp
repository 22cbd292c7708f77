// Sums an array: each call spawns a task for the left half and sums the right half itself.
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include <fult/fult.hpp>

long sum(std::span<const int> numbers) {
    if (numbers.size() <= 100)
        return std::accumulate(numbers.begin(), numbers.end(), 0L);
    const std::size_t half = numbers.size() / 2;
    auto left = fult::spawn(sum, numbers.first(half)); // another worker may run it
    const long right = sum(numbers.subspan(half));
    return left.join() + right; // runs it here if no worker took it
}

int main() {
    fult::runtime runtime; // main is a task from here on
    const std::vector<int> numbers(1'000'000, 3);
    const long total = sum(numbers);
    std::printf("%ld, by %d workers\n", total, fult::worker_count());
    return total == 3'000'000 ? 0 : 1;
}
