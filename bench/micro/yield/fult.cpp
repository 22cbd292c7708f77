#include "common/fult_version.hpp"
#include "common/references.hpp"
#include "micro/yield/yield.hpp"

namespace {
void run(unsigned tasks, unsigned yields) {
    auto function = [yields] {
        for (unsigned i = 0; i < yields; ++i)
            fult::this_task::yield();
    };
    std::vector<fult::handle<void>> running;
    for (unsigned i = 0; i < tasks; ++i)
        running.push_back(fult::spawn(function));
    fult::join_all(running);
}
} // namespace

int main(int argc, char **argv) {
    using namespace bench;
    kernel_settings settings;
    read_yield_settings(argc, argv, settings);
    return run_micro("yield", fult_version, settings, [&] {
        for (unsigned tasks : yield_counts) {
            const double switching = context_round_trip_ns();
            const double value = yield_ns(tasks, run);
            report({"yield", std::to_string(tasks), "fult", settings.workers, value, "ns"},
                   "Boost.Context round trip", switching);
        }
        return std::string();
    });
}
