#include "common/qthreads_version.hpp"
#include "micro/lock/lock.hpp"

namespace {
struct work {
    aligned_t lock;
    unsigned cycles, sections;
    unsigned long *count;
};

aligned_t take_turns(void *argument) {
    const work &w = *static_cast<work *>(argument);
    for (unsigned i = 0; i < w.sections; ++i) {
        qthread_lock(&w.lock);
        ++*w.count;
        bench::critical_section(w.cycles);
        qthread_unlock(&w.lock);
    }
    return 0;
}

void hammer(unsigned cycles, unsigned sections, unsigned long &count) {
    work w{0, cycles, sections, &count};
    std::vector<syncvar_t> done(bench::lock_tasks, bench::empty_syncvar());
    for (syncvar_t &each : done)
        qthread_fork_syncvar(take_turns, &w, &each);
    for (syncvar_t &each : done)
        qthread_syncvar_readFF(nullptr, &each);
}

void uncontended(unsigned long count) {
    aligned_t lock = 0;
    for (unsigned long i = 0; i < count; ++i) {
        qthread_lock(&lock);
        bench::keep(i);
        qthread_unlock(&lock);
    }
}
} // namespace

int main(int argc, char **argv) {
    return bench::lock_main(argc, argv, bench::qthreads_version, hammer, uncontended);
}
