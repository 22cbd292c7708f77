#include "common/argobots_version.hpp"
#include "micro/spawn_join/spawn_join.hpp"

int main(int argc, char **argv) {
    std::vector<ABT_thread> threads;
    return bench::spawn_join_main(argc, argv, bench::argobots_version, [&](unsigned long n) {
        threads.resize(n);
        for (ABT_thread &each : threads)
            bench::check_abt(ABT_thread_create(
                                 bench::abt_here(), [](void *) {}, nullptr, ABT_THREAD_ATTR_NULL, &each),
                             "ABT_thread_create");
        for (ABT_thread &each : threads)
            ABT_thread_free(&each); // joins first
    });
}
