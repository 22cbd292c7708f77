#include "common/fult_version.hpp"
#include "common/references.hpp"
#include "micro/spawn_join/spawn_join.hpp"

namespace {
using namespace bench;

template <class Function> double measure_batches(unsigned long n, Function function) {
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
} // namespace

int main(int argc, char **argv) {
    spawn_join_settings settings;
    settings.sizes = {64, 512, 4096, 65536, 1000000};
    bool suspend = false;
    settings.read(argc, argv, &suspend);
    const char *name = suspend ? "spawn_join_stack" : "spawn_join";
    return run_micro(name, fult_version, settings, [&] {
        for (unsigned long n : settings.sizes) {
            if (suspend) {
                const double switching = context_round_trip_ns();
                const double value = measure_batches(n, [] { fult::this_task::yield(); });
                report({name, std::to_string(n), "fult", settings.workers, value, "ns"},
                       "Boost.Context round trip", switching);
            } else {
                const double call = plain_call_ns();
                const double value = measure_batches(n, [] {});
                report({name, std::to_string(n), "fult", settings.workers, value, "ns"}, "plain call", call);
            }
        }
        return std::string();
    });
}
