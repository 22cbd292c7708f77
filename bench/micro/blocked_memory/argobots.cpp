#include <atomic>
#include <vector>

#include "common/argobots_version.hpp"
#include "micro/blocked_memory/blocked_memory.hpp"

namespace {
using namespace bench;

ABT_eventual gate;
std::atomic<unsigned long> blocked{0}, finished{0};

void block(void *) {
    blocked.fetch_add(1, std::memory_order_relaxed);
    ABT_eventual_wait(gate, nullptr);
    finished.fetch_add(1, std::memory_order_relaxed);
}

std::string one_round(const blocked_memory_settings &settings) {
    const unsigned long n = settings.tasks;
    blocked = finished = 0;
    check_abt(ABT_eventual_create(0, &gate), "ABT_eventual_create");
    std::vector<ABT_thread> tasks(n, ABT_THREAD_NULL);
    const growth memory(n);
    const double start = now();
    for (ABT_thread &each : tasks)
        check_abt(ABT_thread_create(abt_here(), block, nullptr, ABT_THREAD_ATTR_NULL, &each),
                  "ABT_thread_create");
    const double unstarted = memory.kib();
    while (blocked.load(std::memory_order_relaxed) < n)
        ABT_thread_yield();
    const double all_blocked = now();
    const double held = memory.kib();
    ABT_eventual_set(gate, nullptr, 0);
    for (ABT_thread &each : tasks)
        ABT_thread_free(&each); // joins first
    const double end = now();
    ABT_eventual_free(&gate);
    if (finished.load() != n)
        return std::to_string(finished.load()) + " of " + std::to_string(n) + " tasks finished";
    report_blocked("unstarted", "argobots", settings, unstarted, "KiB");
    report_blocked("blocked", "argobots", settings, held, "KiB");
    report_blocked("spawn and block", "argobots", settings, (all_blocked - start) * 1e9 / double(n), "ns");
    report_blocked("signal and join", "argobots", settings, (end - all_blocked) * 1e9 / double(n), "ns");
    return {};
}
} // namespace

int main(int argc, char **argv) {
    blocked_memory_settings settings;
    settings.read(argc, argv);
    return run_micro("blocked_memory", argobots_version, settings, [&] { return one_round(settings); });
}
