#include "display.hpp"

#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "environment.hpp"
#include "place_list.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

void show(const char *name, const char *value) { std::fprintf(stderr, "  [host] %s = '%s'\n", name, value); }
void show(const char *name, const std::string &value) { show(name, value.c_str()); }
void show(const char *name, bool value) { show(name, value ? "TRUE" : "FALSE"); }
void show(const char *name, int value) { show(name, std::to_string(value)); }
void show(const char *name, std::size_t value) { show(name, std::to_string(value)); }

std::string thread_list(const program_icvs &p) {
    if (p.thread_levels == 0)
        return std::to_string(usual_threads());
    std::string list;
    for (int i = 0; i < p.thread_levels; ++i)
        add_item(list, std::to_string(p.thread_list[i]));
    return list;
}

std::string schedule_text(const icv_set &v, schedule_kind by_default) {
    static constexpr const char *kinds[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"}; // schedule_kind
    const auto kind = static_cast<std::size_t>(v.schedule_or(by_default));
    FULT_ASSERT(kind < std::size(kinds));
    std::string text = v.monotonic ? "MONOTONIC:" : "";
    text += kinds[kind];
    if (v.chunk > 1)
        add_item(text, std::to_string(v.chunk));
    return text;
}

std::string bind_list(const program_icvs &p) {
    static constexpr const char *policies[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"}; // bind_policy
    if (p.bind_levels == 0)
        return policies[p.first.bind];
    std::string list;
    for (int i = 0; i < p.bind_levels; ++i)
        add_item(list, policies[p.bind_list[i]]);
    return list;
}

} // namespace

void display_environment(const compiler_facts &by, bool verbose) {
    const program_icvs &p = icvs_of_program();
    static constexpr const char *offloads[] = {"MANDATORY", "DISABLED", "DEFAULT"}; // target_offload
    std::fprintf(stderr, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n");
    std::fprintf(stderr, "  _OPENMP = '%d'\n", by.openmp_version);
    show("OMP_DYNAMIC", p.first.dynamic);
    show("OMP_NESTED", p.first.max_active_levels > 1);
    show("OMP_NUM_THREADS", thread_list(p));
    show("OMP_SCHEDULE", schedule_text(p.first, by.schedule));
    show("OMP_PROC_BIND", bind_list(p));
    show("OMP_PLACES", places().text());
    show("OMP_STACKSIZE", stack_size_of_threads());
    show("OMP_WAIT_POLICY", p.wait_active ? "ACTIVE" : "PASSIVE");
    show("OMP_THREAD_LIMIT", p.first.thread_limit);
    show("OMP_MAX_ACTIVE_LEVELS", p.first.max_active_levels);
    show("OMP_NUM_TEAMS", p.first.teams);
    show("OMP_TEAMS_THREAD_LIMIT", p.first.teams_thread_limit);
    show("OMP_CANCELLATION", p.cancellation);
    show("OMP_DEFAULT_DEVICE", p.first.default_device);
    show("OMP_MAX_TASK_PRIORITY", p.max_task_priority);
    show("OMP_DISPLAY_AFFINITY", p.display_affinity);
    show("OMP_AFFINITY_FORMAT", p.affinity_format);
    show("OMP_ALLOCATOR", allocator_names[p.first.allocator - 1]);
    show("OMP_TARGET_OFFLOAD", offloads[static_cast<std::size_t>(p.offload)]);
    show("OMP_TOOL", "DISABLED");
    show("OMP_TOOL_LIBRARIES", "");
    show("OMP_TOOL_VERBOSE_INIT", "DISABLED");
    show("OMP_DEBUG", "DISABLED");
    if (verbose) {
        if (p.idle_spin >= 0)
            show("FULT_IDLE_SPIN", p.idle_spin);
        show("FULT_OMP", "workers of the runtime, each region on tasks");
    }
    std::fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}

void display_environment_at_load(const compiler_facts &by) {
    static bool done = false;
    const program_icvs &p = icvs_of_program();
    if (p.display && !std::exchange(done, true))
        display_environment(by, p.display_verbose);
}

} // namespace fult::omp
