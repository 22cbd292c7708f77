// Objects that tasks of a cancelled taskgroup own are destroyed, also if the task had not started.
// environment: OMP_CANCELLATION=true
#include <atomic>
#include <omp.h>

#include "check.h"

namespace {

std::atomic<int> alive{0};
struct counted {
    int value = 0;
    counted() { ++alive; }
    counted(const counted &from) : value(from.value) { ++alive; }
    counted &operator=(const counted &) = default;
    ~counted() { --alive; }
};

} // namespace

int main() {
    CHECK(omp_get_cancellation());
    for (int round = 0; round < 50; ++round) {
#pragma omp parallel
#pragma omp single
        {
            counted outside;
#pragma omp taskgroup
            for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(outside, i)
                {
                    counted inside;
                    outside.value += inside.value;
#pragma omp cancellation point taskgroup
#pragma omp cancel taskgroup if (i > 5)
                }
            }
        }
        CHECK(alive == 0);
    }
    return 0;
}
