#include "common/argobots_version.hpp"
#include "micro/lock/lock.hpp"

namespace {
using bench::check_abt;

struct work {
    ABT_mutex lock;
    unsigned cycles, sections;
    unsigned long *count;
};

void take_turns(void *argument) {
    const work &w = *static_cast<work *>(argument);
    for (unsigned i = 0; i < w.sections; ++i) {
        ABT_mutex_lock(w.lock);
        ++*w.count;
        bench::critical_section(w.cycles);
        ABT_mutex_unlock(w.lock);
    }
}

void hammer(unsigned cycles, unsigned sections, unsigned long &count) {
    work w{nullptr, cycles, sections, &count};
    check_abt(ABT_mutex_create(&w.lock), "ABT_mutex_create");
    std::vector<ABT_thread> threads(bench::lock_tasks);
    for (ABT_thread &each : threads)
        check_abt(ABT_thread_create(bench::abt_here(), take_turns, &w, ABT_THREAD_ATTR_NULL, &each),
                  "ABT_thread_create");
    for (ABT_thread &each : threads)
        ABT_thread_free(&each); // joins first
    ABT_mutex_free(&w.lock);
}

void uncontended(unsigned long count) {
    ABT_mutex lock;
    check_abt(ABT_mutex_create(&lock), "ABT_mutex_create");
    for (unsigned long i = 0; i < count; ++i) {
        ABT_mutex_lock(lock);
        bench::keep(i);
        ABT_mutex_unlock(lock);
    }
    ABT_mutex_free(&lock);
}
} // namespace

int main(int argc, char **argv) {
    return bench::lock_main(argc, argv, bench::argobots_version, hammer, uncontended);
}
