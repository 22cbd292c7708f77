#include <atomic>
#include <vector>

#include "common/fult_version.hpp"
#include "micro/blocked_memory/blocked_memory.hpp"

namespace {
using namespace bench;

struct counts {
    std::atomic<bool> open{false};
    std::atomic<unsigned long> blocked{0};
    std::atomic<unsigned long> finished{0};
};

std::string one_round(const blocked_memory_settings &settings) {
    const unsigned long n = settings.tasks;
    counts shared;
    auto function = [&shared] {
        shared.blocked.fetch_add(1, std::memory_order_relaxed);
        while (!shared.open.load(std::memory_order_acquire))
            fult::this_task::wait();
        shared.finished.fetch_add(1, std::memory_order_relaxed);
    };
    std::vector<decltype(fult::spawn(function))> tasks(n); // touched before the count begins
    const growth memory(n);
    const double start = now();
    for (auto &each : tasks)
        each = fult::spawn(function);
    const unsigned long early = shared.blocked.load();
    const double unstarted = memory.kib();
    while (shared.blocked.load(std::memory_order_relaxed) < n)
        fult::this_task::yield();
    const double all_blocked = now();
    const double blocked = memory.kib();
    shared.open.store(true, std::memory_order_release);
    for (auto &each : tasks)
        fult::signal(each.id());
    for (auto &each : tasks)
        each.join();
    const double end = now();
    if (shared.finished.load() != n)
        return std::to_string(shared.finished.load()) + " of " + std::to_string(n) + " tasks finished";

    if (early == 0) // otherwise some have a stack by now
        report_blocked("unstarted", "fult", settings, unstarted, "KiB");
    report_blocked("blocked", "fult", settings, blocked, "KiB");
    report_blocked("spawn and block", "fult", settings, (all_blocked - start) * 1e9 / double(n), "ns");
    report_blocked("signal and join", "fult", settings, (end - all_blocked) * 1e9 / double(n), "ns");
    return {};
}
} // namespace

int main(int argc, char **argv) {
    blocked_memory_settings settings;
    settings.read(argc, argv);
    return run_micro("blocked_memory", fult_version, settings, [&] { return one_round(settings); });
}
