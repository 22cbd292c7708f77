#include "common/qthreads_version.hpp"
#include "micro/spawn_join/spawn_join.hpp"

int main(int argc, char **argv) {
    std::vector<syncvar_t> done;
    return bench::spawn_join_main(argc, argv, bench::qthreads_version, [&](unsigned long n) {
        done.assign(n, bench::empty_syncvar());
        for (syncvar_t &each : done)
            qthread_fork_syncvar([](void *) -> aligned_t { return 0; }, nullptr, &each);
        for (syncvar_t &each : done)
            qthread_syncvar_readFF(nullptr, &each);
    });
}
