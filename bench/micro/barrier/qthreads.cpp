#include <qthread/barrier.h>

#include "common/qthreads_version.hpp"
#include "micro/barrier/barrier.hpp"

namespace {
struct work {
    qt_barrier_t *here;
    unsigned phases;
};

aligned_t meet(void *argument) {
    const work &w = *static_cast<work *>(argument);
    for (unsigned p = 0; p < w.phases; ++p)
        qt_barrier_enter(w.here);
    return 0;
}

void run(unsigned tasks, unsigned phases) {
    work w{qt_barrier_create(tasks, REGION_BARRIER), phases};
    std::vector<syncvar_t> done(tasks, bench::empty_syncvar());
    for (syncvar_t &each : done)
        qthread_fork_syncvar(meet, &w, &each);
    for (syncvar_t &each : done)
        qthread_syncvar_readFF(nullptr, &each);
    qt_barrier_destroy(w.here);
}
} // namespace

int main(int argc, char **argv) { return bench::barrier_main(argc, argv, bench::qthreads_version, run); }
