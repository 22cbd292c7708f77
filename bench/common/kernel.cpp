#include "common/kernel.hpp"

#include <cstdio>
#include <exception>

#include "common/clock.hpp"
#include "common/counters.hpp"
#include "common/micro.hpp"
#include "common/record.hpp"

namespace bench {

void kernel_settings::declare(arguments &line) {
    line.option("-w,--workers", workers, "kernel threads that run tasks");
    line.option("--rounds", rounds, "number of measurements; each writes a record");
}

namespace {
// The counters belong to one thread: with more than one worker they would cover a part of the run.
void add_counters(record &out, const counters &counted, const kernel_settings &settings,
                  std::uint64_t tasks) {
    for (std::size_t i = 0; i < counters::count; ++i) {
        const std::string key = std::string(counters::names[i]) + "_per_task";
        const auto value = counted.value(i);
        if (value && settings.workers == 1 && tasks)
            out.add(key, double(*value) / double(tasks));
        else
            out.add(key, "not available");
    }
}

bool one_round(const version &how, const kernel_settings &settings, const job &work) {
    counters counted;
    counted.start();
    const double seconds = timed(work.compute);
    counted.stop();
    if (const std::string wrong = work.check(); !wrong.empty()) {
        std::fprintf(stderr, "%s %s, %s, %u workers: wrong answer: %s\n", work.benchmark, work.name.c_str(),
                     how.name, settings.workers, wrong.c_str());
        return false;
    }
    const std::uint64_t tasks = work.done ? work.done() : work.tasks;
    record out;
    out.add("benchmark", work.benchmark).add("case", work.name).add("version", how.name);
    out.add("workers", settings.workers).add("seconds", seconds).add("tasks", tasks);
    out.add("ns_per_task", seconds * 1e9 / double(tasks ? tasks : 1));
    add_counters(out, counted, settings, tasks);
    out.print();
    return true;
}

// Runs the body in the runtime; it returns whether all was right.
int run_checked(const char *benchmark, const version &how, const kernel_settings &settings,
                const std::function<bool()> &body) {
    if (settings.workers == 0)
        arguments::fail("at least one worker is needed");
    if (settings.rounds == 0)
        arguments::fail("at least one round is needed");
    if (how.max_workers && settings.workers > how.max_workers)
        arguments::fail(std::string(how.name) + " runs on " + std::to_string(how.max_workers) +
                        " worker only");
    bool right = true;
    try {
        how.run(settings.workers, [&] { right = body(); });
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s, %s: %s\n", benchmark, how.name, error.what());
        return 1;
    }
    return right ? 0 : 1;
}
} // namespace

int run_kernel(const version &how, const kernel_settings &settings, const job &work) {
    return run_checked(work.benchmark, how, settings, [&] {
        work.warm_up();
        bool right = true;
        for (unsigned i = 0; i < settings.rounds && right; ++i)
            right = one_round(how, settings, work);
        return right;
    });
}

int run_micro(const char *benchmark, const version &how, const kernel_settings &settings,
              const std::function<std::string()> &round) {
    return run_checked(benchmark, how, settings, [&] {
        for (unsigned i = 0; i < settings.rounds; ++i) {
            const std::string wrong = round();
            if (!wrong.empty()) {
                std::fprintf(stderr, "%s, %s: %s\n", benchmark, how.name, wrong.c_str());
                return false;
            }
        }
        return true;
    });
}

} // namespace bench
