#include "common/qthreads_version.hpp"
#include "micro/yield/yield.hpp"

namespace {
aligned_t yield_to_others(void *argument) {
    for (unsigned i = *static_cast<unsigned *>(argument); i > 0; --i)
        qthread_yield();
    return 0;
}

void run(unsigned tasks, unsigned yields) {
    std::vector<syncvar_t> done(tasks, bench::empty_syncvar());
    for (syncvar_t &each : done)
        qthread_fork_syncvar(yield_to_others, &yields, &each);
    for (syncvar_t &each : done)
        qthread_syncvar_readFF(nullptr, &each);
}
} // namespace

int main(int argc, char **argv) { return bench::yield_main(argc, argv, bench::qthreads_version, run); }
