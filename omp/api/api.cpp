// The omp_* functions of C, and their Fortran names. Compiled into each front end: the loader looks for them
// there, under the front end's symbol versions.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <string>
#include <unistd.h>

#include <fult/detail/assertion.hpp>

#include "omp/core/binding.hpp"
#include "omp/core/cancel.hpp"
#include "omp/core/control.hpp"
#include "omp/core/detach.hpp"
#include "omp/core/error.hpp"
#include "omp/core/icv.hpp"
#include "omp/core/locks.hpp"
#include "omp/core/place_list.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"
#include "omp/core/threads.hpp"
#include "own_compiler.hpp"

using namespace fult::omp;

namespace {
enum : int { kind_static = 1, kind_auto = 4 }; // omp_sched_t
static_assert(kind_static == static_cast<int>(schedule_kind::fixed) &&
              kind_auto == static_cast<int>(schedule_kind::automatic));

const icv_set &icvs() { return *current_task()->icvs(); }

// The team at a nesting level around the current one; null: there is no such level.
const team *team_at(int level) {
    const team *t = current_task()->in();
    if (level < 0 || level > t->level)
        return nullptr;
    while (t->level > level) {
        FULT_ASSERT(t->creator && t->creator->in()->level < t->level, "levels count the enclosing regions");
        t = t->creator->in();
    }
    return t;
}

bool has_place(int place) { return place >= 0 && place < places().size(); }
} // namespace

extern "C" {

// Threads and teams -----------------------------------------------------------------------------------------------------------

int omp_get_thread_num() { return static_cast<int>(current_task()->self->number); }
int omp_get_num_threads() { return static_cast<int>(current_task()->in()->size); }
int omp_get_max_threads() {
    const int n = icvs().threads;
    return n > 0 ? n : usual_threads();
}
int omp_get_num_procs() { return processors(); }
int omp_in_parallel() { return current_task()->in()->active_level > 0; }
void omp_set_num_threads(int n) {
    change_icvs([n](icv_set &v) { v.threads = n > 0 ? n : 1; });
}
void omp_set_dynamic(int on) {
    change_icvs([on](icv_set &v) { v.dynamic = on != 0; });
}
int omp_get_dynamic() { return icvs().dynamic; }
void omp_set_nested(int on) {
    change_icvs([on](icv_set &v) { v.max_active_levels = on ? 0x7fffffff : 1; });
}
int omp_get_nested() { return icvs().max_active_levels > 1; }
void omp_set_max_active_levels(int n) {
    if (n >= 0)
        change_icvs([n](icv_set &v) { v.max_active_levels = n; });
}
int omp_get_max_active_levels() { return icvs().max_active_levels; }
int omp_get_supported_active_levels() { return 0x7fffffff; }
int omp_get_thread_limit() { return icvs().thread_limit; }
int omp_get_level() { return current_task()->in()->level; }
int omp_get_active_level() { return current_task()->in()->active_level; }
int omp_get_team_size(int level) {
    const team *const t = team_at(level);
    return t ? static_cast<int>(t->size) : -1;
}
int omp_get_ancestor_thread_num(int level) {
    const omp_task *f = current_task();
    if (level < 0 || level > f->in()->level)
        return -1;
    while (f->in()->level > level)
        f = f->in()->creator;
    return static_cast<int>(f->self->number);
}
int omp_in_final() { return current_task()->has(is_final); }
int omp_in_explicit_task() { return !current_task()->has(is_implicit); }
int omp_get_cancellation() { return cancellation_enabled; }
int omp_get_max_task_priority() { return icvs_of_program().max_task_priority; }

void omp_set_schedule(int kind, int chunk) {
    change_icvs([kind, chunk](icv_set &v) {
        const int k = kind & 0x7fffffff;
        if (k < kind_static || k > kind_auto)
            return;
        v.schedule = static_cast<schedule_kind>(k);
        v.monotonic = (static_cast<unsigned>(kind) & monotonic_bit) != 0;
        v.chunk = chunk > 0 ? chunk : k == kind_static ? 0 : 1;
    });
}
void omp_get_schedule(int *kind, int *chunk) {
    const icv_set &v = icvs();
    *kind = static_cast<int>(v.schedule_or(own_compiler.schedule)) |
            (v.monotonic ? static_cast<int>(monotonic_bit) : 0);
    *chunk = v.chunk_or_default(own_compiler.schedule);
}

// Leagues of teams on the host.
int omp_get_num_teams() { return static_cast<int>(current_task()->in()->league.teams); }
int omp_get_team_num() { return static_cast<int>(current_task()->in()->league.number); }
void omp_set_num_teams(int n) {
    if (n >= 0)
        change_icvs([n](icv_set &v) { v.teams = n; });
}
int omp_get_max_teams() { return icvs().teams; }
void omp_set_teams_thread_limit(int n) {
    if (n >= 0)
        change_icvs([n](icv_set &v) { v.teams_thread_limit = n; });
}
int omp_get_teams_thread_limit() { return icvs().teams_thread_limit; }

// Time ------------------------------------------------------------------------------------------------------------------------

double omp_get_wtime() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
double omp_get_wtick() {
    timespec t{};
    ::clock_getres(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Locks -----------------------------------------------------------------------------------------------------------------------

void omp_init_lock(simple_lock *l) { lock_init(l); }
void omp_init_lock_with_hint(simple_lock *l, int) { lock_init(l); }
void omp_destroy_lock(simple_lock *) {}
void omp_set_lock(simple_lock *l) { lock_set(l); }
void omp_unset_lock(simple_lock *l) { lock_unset(l); }
int omp_test_lock(simple_lock *l) { return lock_test(l); }

void omp_fulfill_event(std::uintptr_t event) { fulfill(reinterpret_cast<detach_event *>(event)); }

// Places and binding ------------------------------------------------------------------------

int omp_get_proc_bind() { return icvs().bind; }
int omp_get_num_places() { return places().size(); }
int omp_get_place_num_procs(int place) {
    return has_place(place) ? static_cast<int>(places().processors_of(place).size()) : 0;
}
void omp_get_place_proc_ids(int place, int *ids) {
    if (has_place(place))
        std::ranges::copy(places().processors_of(place), ids);
}
int omp_get_place_num() { return current_task()->at->bound.load(std::memory_order_relaxed); }
int omp_get_partition_num_places() { return partition_of(*current_task()->self).count; }
void omp_get_partition_place_nums(int *numbers) {
    const place_partition p = partition_of(*current_task()->self);
    for (int i = 0; i < p.count; ++i)
        numbers[i] = p.first + i;
}

void omp_set_affinity_format(const char *format) { icvs_of_program().set_affinity_format(format); }
std::size_t omp_get_affinity_format(char *buffer, std::size_t size) {
    const program_icvs &p = icvs_of_program();
    if (size != 0)
        std::snprintf(buffer, size, "%s", p.affinity_format);
    return std::strlen(p.affinity_format);
}
std::size_t omp_capture_affinity(char *buffer, std::size_t size, const char *format) {
    const std::string text = affinity_text(format);
    if (size != 0)
        std::snprintf(buffer, size, "%s", text.c_str());
    return text.size();
}
void omp_display_affinity(const char *format) { show_affinity(format); }
void omp_display_env(int verbose) { display_environment(own_compiler, verbose != 0); }

// Devices: the host alone ---------------------------------------------------------------------------------------------------

int omp_get_num_devices() { return 0; }
int omp_get_initial_device() { return 0; }
int omp_is_initial_device() { return 1; }
int omp_get_device_num() { return 0; }
void omp_set_default_device(int n) {
    change_icvs([n](icv_set &v) { v.default_device = n >= 0 ? n : 0; });
}
int omp_get_default_device() { return icvs().default_device; }
int omp_pause_resource(int kind, int device) {
    constexpr int soft = 1, hard = 2;
    if (kind < soft || kind > hard || device != omp_get_initial_device() || current_task()->in()->level != 0)
        return -1;
    if (kind == hard) // a soft pause keeps threadprivate data
        release_workers();
    return 0;
}
int omp_pause_resource_all(int kind) { return omp_pause_resource(kind, omp_get_initial_device()); }
void *omp_target_alloc(std::size_t size, int) { return size ? std::malloc(size) : nullptr; }
void omp_target_free(void *p, int) { std::free(p); }
int omp_target_is_present(const void *, int) { return 1; }
int omp_target_is_accessible(const void *, std::size_t, int) { return 1; }
void *omp_get_mapped_ptr(const void *p, int) { return const_cast<void *>(p); }
int omp_target_memcpy(void *to, const void *from, std::size_t n, std::size_t to_offset,
                      std::size_t from_offset, int, int) {
    std::memcpy(static_cast<char *>(to) + to_offset, static_cast<const char *>(from) + from_offset, n);
    return 0;
}
int omp_target_memcpy_rect(void *to, const void *from, std::size_t element, int dimensions,
                           const std::size_t *volume, const std::size_t *to_offsets,
                           const std::size_t *from_offsets, const std::size_t *to_dimensions,
                           const std::size_t *from_dimensions, int to_device, int from_device) {
    if (!to && !from)
        return 0x7fffffff;
    if (dimensions < 1)
        return 22;
    std::size_t to_slice = element, from_slice = element;
    for (int i = 1; i < dimensions; ++i) {
        to_slice *= to_dimensions[i];
        from_slice *= from_dimensions[i];
    }
    auto *t = static_cast<char *>(to) + to_offsets[0] * to_slice;
    const auto *f = static_cast<const char *>(from) + from_offsets[0] * from_slice;
    if (dimensions == 1) {
        std::memcpy(t, f, element * volume[0]);
        return 0;
    }
    for (std::size_t i = 0; i < volume[0]; ++i, t += to_slice, f += from_slice)
        if (const int error = omp_target_memcpy_rect(t, f, element, dimensions - 1, volume + 1,
                                                     to_offsets + 1, from_offsets + 1, to_dimensions + 1,
                                                     from_dimensions + 1, to_device, from_device))
            return error;
    return 0;
}
int omp_target_associate_ptr(const void *, const void *, std::size_t, std::size_t, int) { return 22; }
int omp_target_disassociate_ptr(const void *, int) { return 22; }

} // extern "C"
