// Exceptions stay inside a construct.
#include <stdexcept>

#include "check.h"

int main() {
    int caught = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for
        for (int i = 0; i < 100; ++i)
            try {
                if (i % 10 == 0)
                    throw std::runtime_error("ten");
            } catch (const std::exception &) {
#pragma omp atomic
                ++caught;
            }
#pragma omp task shared(caught)
        try {
            throw 1;
        } catch (int) {
#pragma omp atomic
            ++caught;
        }
    }
    EXPECT(caught == 14);
    return 0;
}
