// A task spawns 64 tasks of 5 ms, then computes for 160 ms without a scheduling point: the other worker must
// find them. Beside it: two threads that do the same work in halves.
#include <vector>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"

namespace {
using namespace bench;

constexpr unsigned children = 64;
constexpr double child_ms = 5;
constexpr double parent_ms = 160;

std::string one_round(unsigned workers) {
    const busy_work child(child_ms), parent(parent_ms), half((children * child_ms + parent_ms) / 2);
    const double ideal = on_threads(2, [&](unsigned) { half(); });
    std::vector<int> ran_on(children);
    const double seconds = timed([&] {
        auto all = fult::spawn([&] {
            std::vector<fult::handle<void>> tasks;
            for (unsigned i = 0; i < children; ++i)
                tasks.push_back(fult::spawn([&, i] {
                    child();
                    ran_on[i] = fult::this_task::worker() + 1;
                }));
            parent();
            fult::join_all(tasks);
        });
        all.join();
    });
    for (int worker : ran_on)
        if (worker == 0)
            return "a task has not run";
    report({"hidden_work", "64 x 5 + 160 ms", "fult", workers, seconds * 1e3, "ms"}, "two threads",
           ideal * 1e3);
    return {};
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    arguments line("hidden_work: tasks spawned by a task that then computes, milliseconds.");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("hidden_work", fult_version, settings, [&] { return one_round(settings.workers); });
}
