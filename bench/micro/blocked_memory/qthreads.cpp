#include <atomic>
#include <vector>

#include "common/qthreads_version.hpp"
#include "micro/blocked_memory/blocked_memory.hpp"

namespace {
using namespace bench;

syncvar_t gate;
std::atomic<unsigned long> blocked{0}, finished{0};

aligned_t block(void *) {
    blocked.fetch_add(1, std::memory_order_relaxed);
    qthread_syncvar_readFF(nullptr, &gate);
    finished.fetch_add(1, std::memory_order_relaxed);
    return 0;
}

std::string one_round(const blocked_memory_settings &settings) {
    const unsigned long n = settings.tasks;
    blocked = finished = 0;
    gate = empty_syncvar();
    std::vector<syncvar_t> done(n, empty_syncvar());
    const growth memory(n);
    const double start = now();
    for (syncvar_t &each : done)
        qthread_fork_syncvar(block, nullptr, &each);
    const double unstarted = memory.kib();
    while (blocked.load(std::memory_order_relaxed) < n)
        qthread_yield();
    const double all_blocked = now();
    const double held = memory.kib();
    qthread_syncvar_writeF_const(&gate, 1);
    for (syncvar_t &each : done)
        qthread_syncvar_readFF(nullptr, &each);
    const double end = now();
    if (finished.load() != n)
        return std::to_string(finished.load()) + " of " + std::to_string(n) + " tasks finished";
    report_blocked("unstarted", "qthreads", settings, unstarted, "KiB");
    report_blocked("blocked", "qthreads", settings, held, "KiB");
    report_blocked("spawn and block", "qthreads", settings, (all_blocked - start) * 1e9 / double(n), "ns");
    report_blocked("signal and join", "qthreads", settings, (end - all_blocked) * 1e9 / double(n), "ns");
    return {};
}
} // namespace

int main(int argc, char **argv) {
    blocked_memory_settings settings;
    settings.read(argc, argv);
    return run_micro("blocked_memory", qthreads_version, settings, [&] { return one_round(settings); });
}
