#include "common/argobots_version.hpp"
#include "micro/barrier/barrier.hpp"

namespace {
using bench::check_abt;

struct work {
    ABT_barrier here;
    unsigned phases;
};

void meet(void *argument) {
    const work &w = *static_cast<work *>(argument);
    for (unsigned p = 0; p < w.phases; ++p)
        ABT_barrier_wait(w.here);
}

void run(unsigned tasks, unsigned phases) {
    work w{nullptr, phases};
    check_abt(ABT_barrier_create(tasks, &w.here), "ABT_barrier_create");
    std::vector<ABT_thread> threads(tasks);
    for (unsigned t = 0; t < tasks; ++t)
        check_abt(ABT_thread_create(bench::abt_pools[t % bench::abt_pools.size()], meet, &w,
                                    ABT_THREAD_ATTR_NULL, &threads[t]),
                  "ABT_thread_create");
    for (ABT_thread &each : threads)
        ABT_thread_free(&each); // joins first
    ABT_barrier_free(&w.here);
}
} // namespace

int main(int argc, char **argv) { return bench::barrier_main(argc, argv, bench::argobots_version, run); }
