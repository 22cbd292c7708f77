#include "common/argobots_version.hpp"
#include "micro/yield/yield.hpp"

namespace {
void yield_to_others(void *argument) {
    for (unsigned i = *static_cast<unsigned *>(argument); i > 0; --i)
        ABT_thread_yield();
}

void run(unsigned tasks, unsigned yields) {
    std::vector<ABT_thread> threads(tasks);
    for (ABT_thread &each : threads)
        bench::check_abt(
            ABT_thread_create(bench::abt_here(), yield_to_others, &yields, ABT_THREAD_ATTR_NULL, &each),
            "ABT_thread_create");
    for (ABT_thread &each : threads)
        ABT_thread_free(&each); // joins first
}
} // namespace

int main(int argc, char **argv) { return bench::yield_main(argc, argv, bench::argobots_version, run); }
