// Regions that threads open which OpenMP does not know.
#include <omp.h>
#include <thread>
#include <vector>

#include "check.h"

int main() {
    int sums[3] = {};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&sums, t] {
            for (int round = 0; round < 20; ++round) {
                int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
                {
#pragma omp for
                    for (int i = 0; i < 100; ++i)
                        sum += i;
#pragma omp single
                    for (int i = 0; i < 10; ++i) {
#pragma omp task
                        {}
                    }
                }
                sums[t] += sum;
            }
        });
    for (auto &t : threads)
        t.join();
    for (int s : sums)
        EXPECT(s == 20 * 4950);
    return 0;
}
