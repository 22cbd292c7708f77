#include "environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

#include "omp/core/environment.hpp"
#include "omp/core/error.hpp"
#include "omp/core/threads.hpp"

namespace fult::omp::kmp {
namespace {

// Those that are read here, and those whose meaning nothing here contradicts: they are not named as without
// effect.
constexpr std::string_view known[] = {
    "KMP_AFFINITY",     "KMP_BLOCKTIME",    "KMP_STACKSIZE",           "KMP_LIBRARY",
    "KMP_ALL_THREADS",  "KMP_SETTINGS",     "KMP_DEVICE_THREAD_LIMIT", "KMP_WARNINGS",
    "KMP_INIT_AT_FORK", "KMP_CPUINFO_FILE", "KMP_INHERIT_FP_CONTROL",  "KMP_DUPLICATE_LIB_OK",
};

bool is_true(const char *name) {
    bool value = false;
    read_bool(name, value);
    return value;
}

// Milliseconds, or with a unit.
void read_blocktime(program_icvs &p) {
    const char *const text = std::getenv("KMP_BLOCKTIME");
    if (!text)
        return;
    std::string_view s = trimmed(text);
    long value = 0, factor = 1000;
    if (index_in({"infinite", "infinity"}, s) >= 0) {
        p.idle_spin = longest_idle_spin;
        return;
    }
    for (const auto &[unit, microseconds] : {std::pair{"us", 1L}, std::pair{"ms", 1000L}})
        if (s.size() > 2 && equals(s.substr(s.size() - 2), unit)) {
            s.remove_suffix(2);
            factor = microseconds;
            break;
        }
    if (!read_number(trimmed(s), value) || value < 0)
        return ignored("KMP_BLOCKTIME", text);
    p.idle_spin = static_cast<int>(std::min<long>(value, longest_idle_spin / factor) * factor);
}

void read_library(program_icvs &p) {
    const char *const text = std::getenv("KMP_LIBRARY");
    if (!text)
        return;
    const int kind = index_in({"serial", "turnaround", "throughput"}, trimmed(text));
    if (kind < 0)
        return ignored("KMP_LIBRARY", text);
    if (kind == 0)
        p.first.thread_limit = 1;
    p.wait_active = p.wait_active || kind == 1;
}

// The newer name counts.
void read_thread_limit(program_icvs &p) {
    for (const char *const name : {"KMP_ALL_THREADS", "KMP_DEVICE_THREAD_LIMIT"}) {
        const char *const text = std::getenv(name);
        if (!text)
            continue;
        if (equals(trimmed(text), "all"))
            p.first.thread_limit = std::min(p.first.thread_limit, processors());
        else
            read_int(name, 1, p.first.thread_limit);
    }
}

void name_others() {
    std::string names;
    for (char **each = environ; each && *each; ++each) {
        const std::string_view entry = *each, name = entry.substr(0, entry.find('='));
        if (name.starts_with("KMP_") &&
            std::find(std::begin(known), std::end(known), name) == std::end(known))
            add_item(names, name);
    }
    if (!names.empty())
        warn("without effect here: %s (docs/openmp.md, \"Environment\", lists those that have one)",
             names.c_str());
}

} // namespace

void read_environment(program_icvs &p) {
    bool warns = true;
    read_bool("KMP_WARNINGS", warns);
    if (started_workers() != 0) // by another library of this process
        return;
    if (const char *text = std::getenv("KMP_STACKSIZE"))
        read_size("KMP_STACKSIZE", text, "b", p.stack_size);
    read_blocktime(p);
    read_library(p);
    read_thread_limit(p);
    read_affinity(p, warns);
    if (is_true("KMP_SETTINGS"))
        p.display = p.display_verbose = true;
    if (warns)
        name_others();
}

} // namespace fult::omp::kmp
