// Quicksort: a task sorts one part, the caller the other. (fult::parallel_sort is faster.)
#include <algorithm>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include <fult/fult.hpp>

void sort(std::span<int> numbers) {
    if (numbers.size() <= 500) // too short for a task
        return std::sort(numbers.begin(), numbers.end());
    const int pivot =
        std::max(std::min(numbers.front(), numbers.back()),
                 std::min(std::max(numbers.front(), numbers.back()), numbers[numbers.size() / 2]));
    const auto less = std::partition(numbers.begin(), numbers.end(), [=](int n) { return n < pivot; });
    const auto equal = std::partition(less, numbers.end(), [=](int n) { return n == pivot; });
    auto left = fult::spawn(sort, std::span(numbers.begin(), less));
    sort(std::span(equal, numbers.end()));
    left.join();
}

int main() {
    fult::runtime runtime;
    std::mt19937 random(7);
    std::vector<int> numbers(500'000);
    for (int &number : numbers)
        number = int(random() % 100'000);
    std::vector<int> expected = numbers;
    std::sort(expected.begin(), expected.end());

    sort(numbers);
    const bool right = numbers == expected;
    std::printf("%zu numbers, %s\n", numbers.size(), right ? "in order" : "not in order");
    return right ? 0 : 1;
}
