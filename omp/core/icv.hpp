// Internal control variables (OpenMP 5.1, section 2.4): those of a data environment, and those of the
// program.
#pragma once

#include <cstddef>
#include <cstdio>
#include <sched.h>

namespace fult::omp {

// As in omp.h.
enum class schedule_kind : int { by_compiler = 0, fixed = 1, dynamic = 2, guided = 3, automatic = 4 };
inline constexpr unsigned monotonic_bit = 0x80000000u;

inline constexpr int no_thread_limit = 0x7fffffff;
inline constexpr int longest_idle_spin = 1'000'000; // microseconds, the most of FULT_IDLE_SPIN

// omp.h numbers them from 1.
inline constexpr const char *allocator_names[] = {
    "omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc", "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",    "omp_pteam_mem_alloc", "omp_thread_mem_alloc"};

// Immutable once tasks share it: a task that changes a variable gets a copy.
struct icv_set {
    int threads = 0; // of the next region; 0: usual_threads()
    bool dynamic = false;
    schedule_kind schedule = schedule_kind::by_compiler; // neither OMP_SCHEDULE nor the program has set it
    bool monotonic = false;
    int chunk = 0; // fixed: 0 is one block a thread
    int max_active_levels = 1;
    int thread_limit = no_thread_limit;
    int default_device = 0;
    int bind = 0; // omp_proc_bind_false
    int teams = 0, teams_thread_limit = 0;
    std::size_t allocator = 1; // omp_default_mem_alloc

    bool is_valid() const noexcept {
        return threads >= 0 && schedule >= schedule_kind::by_compiler &&
               schedule <= schedule_kind::automatic && chunk >= 0 && max_active_levels >= 0 &&
               thread_limit >= 1 && default_device >= 0 && bind >= 0 && bind <= 4 && teams >= 0 &&
               teams_thread_limit >= 0 && allocator != 0;
    }
    // Of a loop of a compiler whose default this is.
    schedule_kind schedule_or(schedule_kind by_default) const noexcept {
        return schedule == schedule_kind::by_compiler ? by_default : schedule;
    }
    int chunk_or_default(schedule_kind by_default) const noexcept {
        return schedule != schedule_kind::by_compiler ? chunk : by_default == schedule_kind::fixed ? 0 : 1;
    }
    friend bool operator==(const icv_set &, const icv_set &) noexcept = default;
};

// There are no devices: each region for one runs on the host.
enum class target_offload : int { mandatory, disabled, by_default };

struct program_icvs {
    icv_set first;           // of the initial task
    int thread_list[8] = {}; // OMP_NUM_THREADS by level
    int thread_levels = 0;
    int bind_list[8] = {}; // OMP_PROC_BIND by level
    int bind_levels = 0;
    bool cancellation = false;
    int max_task_priority = 0;
    bool wait_active = false, wait_passive = false;
    int idle_spin = -1; // microseconds for which an idle thread polls; -1: by OMP_WAIT_POLICY
    bool display_verbose = false, display = false; // OMP_DISPLAY_ENV
    target_offload offload = target_offload::by_default;
    std::size_t stack_size = 0; // OMP_STACKSIZE; 0: as for threads
    bool display_affinity = false;
    char affinity_format[256] = "level %L thread %i affinity %A";
    bool has_affinity_format = false;    // the program or OMP_AFFINITY_FORMAT has set it
    std::FILE *affinity_stream = stderr; // where threads are shown

    void set_affinity_format(const char *text) noexcept {
        std::snprintf(affinity_format, sizeof affinity_format, "%s", text);
        has_affinity_format = true;
    }
    // OpenMP leaves both to the library. The initial values are libgomp's; the library of another compiler
    // says its own when it is loaded.
    void show_affinity_by_default(std::FILE *stream, const char *format) noexcept {
        affinity_stream = stream;
        if (!has_affinity_format)
            std::snprintf(affinity_format, sizeof affinity_format, "%s", format);
    }
};

program_icvs &icvs_of_program();                 // read from the environment on the first call
int processors() noexcept;                       // that this process may use
int usual_threads() noexcept;                    // of these, as many as a quota of its control group leaves
const cpu_set_t &processors_at_start() noexcept; // these: the mask before any thread was bound

} // namespace fult::omp
