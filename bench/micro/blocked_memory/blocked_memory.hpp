// Very many tasks that are blocked at once: resident memory of each.
#pragma once

#include <string>

#include "common/clock.hpp"
#include "common/memory.hpp"
#include "common/micro.hpp"

namespace bench {

struct blocked_memory_settings : kernel_settings {
    unsigned long tasks = 1'000'000;

    void read(int argc, char **argv) {
        arguments line("blocked_memory: resident memory of tasks that are all blocked.");
        line.option("-n,--tasks", tasks, "number of tasks");
        declare(line);
        line.parse(argc, argv);
        if (tasks == 0)
            arguments::fail("at least one task is needed");
    }
};

// Resident memory of a task over what there was before, in KiB.
class growth {
  public:
    explicit growth(unsigned long tasks) : tasks_(tasks), before_(resident_bytes()) {}
    double kib() const { return (resident_bytes() - before_) / 1024 / double(tasks_); }

  private:
    unsigned long tasks_;
    double before_;
};

inline void report_blocked(const char *name, const char *version, const blocked_memory_settings &settings,
                           double value, const char *unit) {
    report({"blocked_memory", name, version, settings.workers, value, unit});
}

} // namespace bench
