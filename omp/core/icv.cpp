#include "icv.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sched.h>
#include <string>
#include <string_view>

#include <fult/detail/assertion.hpp>

#include "binding.hpp"
#include "cancel.hpp"
#include "environment.hpp"
#include "error.hpp"
#include "fult/base/processor_quota.hpp"
#include "place_list.hpp"
#include "threads.hpp"

namespace fult::omp {

const cpu_set_t &processors_at_start() noexcept {
    static const cpu_set_t at_start = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (::sched_getaffinity(0, sizeof set, &set) != 0)
            CPU_SET(0, &set);
        return set;
    }();
    return at_start;
}

int processors() noexcept {
    static const int count = CPU_COUNT(&processors_at_start());
    return count;
}

int usual_threads() noexcept {
    const unsigned quota = detail::processor_quota();
    return quota != 0 ? std::min(processors(), static_cast<int>(quota)) : processors();
}

namespace {

constexpr int levels = std::size(decltype(program_icvs::thread_list){});
static_assert(levels == std::size(decltype(program_icvs::bind_list){}));

void read_threads(program_icvs &p) {
    const char *text = std::getenv("OMP_NUM_THREADS");
    if (!text)
        return;
    std::string_view rest = text;
    while (!rest.empty() && p.thread_levels < levels) {
        long value = 0;
        if (!read_number(take_item(rest), value) || value < 1) {
            ignored("OMP_NUM_THREADS", text);
            p.thread_levels = 0;
            return;
        }
        p.thread_list[p.thread_levels++] = static_cast<int>(value);
    }
    if (p.thread_levels > 0)
        p.first.threads = p.thread_list[0];
    if (p.thread_levels > 1)
        p.first.max_active_levels = 0x7fffffff;
}

void read_schedule(program_icvs &p) {
    const char *text = std::getenv("OMP_SCHEDULE");
    if (!text)
        return;
    std::string_view s = trimmed(text);
    bool monotonic = false;
    if (const std::size_t colon = s.find(':'); colon != s.npos) {
        monotonic = equals(trimmed(s.substr(0, colon)), "monotonic");
        s = s.substr(colon + 1);
    }
    const int kind = index_in({"", "static", "dynamic", "guided", "auto"}, take_item(s)); // schedule_kind
    long chunk = 0;
    if (kind < 1 || (!s.empty() && (!read_number(trimmed(s), chunk) || chunk < 1)))
        return ignored("OMP_SCHEDULE", text);
    p.first.schedule = static_cast<schedule_kind>(kind);
    p.first.monotonic = monotonic;
    p.first.chunk = chunk > 0 ? static_cast<int>(chunk) : p.first.schedule == schedule_kind::fixed ? 0 : 1;
}

void read_stack_size(program_icvs &p) {
    const char *name = "OMP_STACKSIZE", *text = std::getenv(name);
    if (text || (text = std::getenv(name = "GOMP_STACKSIZE")))
        read_size(name, text, "k", p.stack_size);
}

// libgomp takes 100,000 of its turns for a millisecond.
void read_spin_count(program_icvs &p) {
    const char *const text = std::getenv("GOMP_SPINCOUNT");
    if (!text)
        return;
    long turns = 0;
    if (index_in({"infinite", "infinity"}, trimmed(text)) >= 0)
        p.idle_spin = longest_idle_spin;
    else if (read_number(trimmed(text), turns) && turns >= 0)
        p.idle_spin = static_cast<int>(std::min<long>(turns / 100, longest_idle_spin));
    else
        ignored("GOMP_SPINCOUNT", text);
}

void read_display(program_icvs &p) {
    const char *const text = std::getenv("OMP_DISPLAY_ENV");
    if (!text)
        return;
    const int how = index_in({"verbose", "true", "1", "false", "0"}, trimmed(text));
    p.display_verbose = how == 0;
    p.display = how >= 0 && how < 3;
    if (how < 0)
        ignored("OMP_DISPLAY_ENV", text);
}

void read_target_offload(program_icvs &p) {
    const char *const text = std::getenv("OMP_TARGET_OFFLOAD");
    if (!text)
        return;
    const int how = index_in({"mandatory", "disabled", "default"}, trimmed(text)); // target_offload
    if (how < 0)
        return ignored("OMP_TARGET_OFFLOAD", text);
    p.offload = static_cast<target_offload>(how);
}

void name_missing_tools() {
    if (const char *const text = std::getenv("OMP_TOOL_LIBRARIES"); text && *text)
        warn("OMP_TOOL_LIBRARIES=%s has no effect: tools (OMPT) are not supported", text);
}

void read_bind_list(program_icvs &p, const char *text) {
    std::string_view rest = text;
    while (!rest.empty() && p.bind_levels < levels) {
        constexpr int master = 5; // another name of primary
        const int kind = index_in({"false", "true", "primary", "close", "spread", "master"}, take_item(rest));
        if (kind < 0) {
            p.bind_levels = 0;
            return ignored("OMP_PROC_BIND", text);
        }
        p.bind_list[p.bind_levels++] = kind == master ? static_cast<int>(bind_policy::primary) : kind;
    }
    p.first.bind = p.bind_levels > 0 ? p.bind_list[0] : 0;
}

// Places alone mean that threads are bound; a policy alone, that each core is a place.
void read_bind(program_icvs &p) {
    const char *const policy = std::getenv("OMP_PROC_BIND"), *const listed = std::getenv("OMP_PLACES");
    const char *const each = std::getenv("GOMP_CPU_AFFINITY");
    const bool has_places = listed ? places().read(listed, processors_at_start())
                                   : each && places().read_processors(each, processors_at_start());
    if (policy)
        read_bind_list(p, policy);
    else
        p.first.bind = has_places;
    if (p.first.bind == 0)
        places().clear();
    else if (!has_places)
        places().use_cores();
}

void read_allocator(program_icvs &p) {
    const char *text = std::getenv("OMP_ALLOCATOR");
    if (!text)
        return;
    for (std::size_t i = 0; i < std::size(allocator_names); ++i)
        if (equals(trimmed(text), allocator_names[i])) {
            p.first.allocator = i + 1;
            return;
        }
    ignored("OMP_ALLOCATOR", text);
}

program_icvs read_all() {
    program_icvs p;
    read_threads(p);
    read_schedule(p);
    read_stack_size(p);
    read_spin_count(p);
    read_display(p);
    read_target_offload(p);
    read_bind(p);
    read_allocator(p);
    read_bool("OMP_DYNAMIC", p.first.dynamic);
    read_bool("OMP_CANCELLATION", p.cancellation);
    read_bool("OMP_DISPLAY_AFFINITY", p.display_affinity);
    read_bool("FULT_OMP_BEGIN_IN_BLOCKING_CALLS", begins_in_blocking_calls);
    read_int("OMP_MAX_TASK_PRIORITY", 0, p.max_task_priority);
    read_int("OMP_THREAD_LIMIT", 1, p.first.thread_limit);
    read_int("OMP_TEAMS_THREAD_LIMIT", 1, p.first.teams_thread_limit);
    read_int("OMP_NUM_TEAMS", 1, p.first.teams);
    read_int("OMP_DEFAULT_DEVICE", 0, p.first.default_device);
    bool nested = false;
    read_bool("OMP_NESTED", nested);
    if (nested)
        p.first.max_active_levels = 0x7fffffff;
    read_int("OMP_MAX_ACTIVE_LEVELS", 0, p.first.max_active_levels);
    if (const char *text = std::getenv("OMP_WAIT_POLICY")) {
        const int policy = index_in({"active", "passive"}, trimmed(text));
        p.wait_active = policy == 0;
        p.wait_passive = policy == 1;
        if (policy < 0)
            ignored("OMP_WAIT_POLICY", text);
    }
    name_missing_tools();
    if (const char *text = std::getenv("OMP_AFFINITY_FORMAT"))
        p.set_affinity_format(text);
    cancellation_enabled = p.cancellation;
    priorities_enabled = p.max_task_priority > 0;
    schedulers_choose = priorities_enabled || !begins_in_blocking_calls;
    FULT_ASSERT(p.first.is_valid() && p.max_task_priority >= 0);
    FULT_ASSERT(p.thread_levels <= levels && p.bind_levels <= levels);
    return p;
}

} // namespace

program_icvs &icvs_of_program() {
    static program_icvs p = read_all();
    return p;
}

namespace {
// Reads the control variables when the library is loaded.
struct at_load {
    at_load() {
        icvs_of_program();
        processors(); // before a thread may be bound
        if (binds_threads())
            bind_thread(this_thread(), 0);
    }
} const at_load_;
} // namespace

} // namespace fult::omp
