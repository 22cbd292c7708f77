// The frame of the small benchmarks: in each round a measurement and, beside it, one of what it is compared
// with.
#pragma once

#include <string>

#include "common/kernel.hpp"
#include "common/record.hpp"

namespace bench {

struct measure {
    const char *benchmark;
    std::string name; // the case
    const char *version;
    unsigned workers;
    double value;
    const char *unit;
};

inline record to_record(const measure &what) {
    record out;
    out.add("benchmark", what.benchmark).add("case", what.name).add("version", what.version);
    out.add("workers", what.workers).add("value", what.value).add("unit", what.unit);
    return out;
}

inline void report(const measure &what) { to_record(what).print(); }

// With the reference that was measured right before or after.
inline void report(const measure &what, const char *reference, double reference_value) {
    record out = to_record(what);
    out.add("reference", reference).add("reference_value", reference_value);
    out.print();
}

// Starts the runtime and calls round repeatedly; it reports by itself, and returns an error or an empty
// string.
int run_micro(const char *benchmark, const version &how, const kernel_settings &settings,
              const std::function<std::string()> &round);

} // namespace bench
