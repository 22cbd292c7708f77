// Spawn N tasks that do nothing into a group, then wait for it: nanoseconds a task. Beside it: the same tasks
// spawned and joined one by one, in the same process.
#include "common/fult_version.hpp"
#include "micro/spawn_join/spawn_join.hpp"

namespace {
using namespace bench;

template <class Function> double bare_ns(unsigned long n, Function function) {
    std::vector<decltype(fult::spawn(function))> tasks;
    tasks.reserve(n);
    return spawn_join_ns(n, [&](unsigned long count) {
        for (unsigned long i = 0; i < count; ++i)
            tasks.push_back(fult::spawn(function));
        for (auto &each : tasks)
            each.join();
        tasks.clear();
    });
}

template <class Function> double group_ns(unsigned long n, Function function) {
    return spawn_join_ns(n, [&](unsigned long count) {
        fult::task_group group;
        for (unsigned long i = 0; i < count; ++i)
            group.spawn(function);
        group.wait();
    });
}

// The better of several turns: the two differ by less than this machine's noise.
template <class Measure> double best_of(Measure measure) {
    double best = measure();
    for (int i = 0; i < 4; ++i)
        best = std::min(best, measure());
    return best;
}
} // namespace

int main(int argc, char **argv) {
    spawn_join_settings settings;
    settings.sizes = {8, 64, 512, 4096, 65536};
    settings.read(argc, argv);
    return run_micro("task_group", fult_version, settings, [&] {
        for (unsigned long n : settings.sizes) {
            const double bare = best_of([&] { return bare_ns(n, [] {}); });
            const double group = best_of([&] { return group_ns(n, [] {}); });
            report({"task_group", std::to_string(n), "fult", settings.workers, group, "ns"},
                   "bare spawn and join", bare);
        }
        return std::string();
    });
}
