// kmp_*: what programs ask of libomp beyond OpenMP. Hints that have no meaning here are accepted.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "environment.hpp"
#include "kmp.hpp"
#include "omp/api/own_compiler.hpp"
#include "omp/core/cancel.hpp"
#include "omp/core/icv.hpp"

using namespace fult::omp;

namespace {
// Milliseconds that a thread spins, for the program that asks: ours follow OMP_WAIT_POLICY and the runtime's
// options.
int &blocktime() noexcept {
    static int time = [] {
        constexpr int forever = std::numeric_limits<int>::max();
        const program_icvs &p = icvs_of_program();
        if (p.idle_spin >= 0)
            return p.idle_spin == longest_idle_spin ? forever : p.idle_spin / 1000;
        return p.wait_active ? forever : p.wait_passive ? 0 : 200;
    }();
    return time;
}
int library = 2; // throughput

struct at_load {
    at_load() {
        icvs_of_program().show_affinity_by_default(stdout,
                                                   "OMP: pid %P tid %i thread %n bound to OS proc set {%A}");
        kmp::read_environment(icvs_of_program());
        display_environment_at_load(own_compiler);
    }
} const at_load_;
} // namespace

// Both names, with `_` for Fortran.
#define FULT_BOTH_SET(NAME, T, BODY) \
    void NAME(T n) { BODY }          \
    void NAME##_(const T *p) { NAME(*p); }
#define FULT_BOTH_GET(NAME, T, BODY) \
    T NAME(){BODY} T NAME##_() { return NAME(); }
#define FULT_BOTH_DO(NAME) \
    void NAME() {}         \
    void NAME##_() {}

extern "C" {

FULT_BOTH_SET(kmp_set_blocktime, int, blocktime() = n;)
FULT_BOTH_GET(kmp_get_blocktime, int, return blocktime();)
FULT_BOTH_SET(kmp_set_library, int, library = n;)
FULT_BOTH_GET(kmp_get_library, int, return library;)
FULT_BOTH_SET(kmp_set_stacksize, int, icvs_of_program().stack_size = static_cast<std::size_t>(n);)
FULT_BOTH_GET(kmp_get_stacksize, int, return static_cast<int>(icvs_of_program().stack_size);)
FULT_BOTH_SET(kmp_set_stacksize_s, std::size_t, icvs_of_program().stack_size = n;)
FULT_BOTH_GET(kmp_get_stacksize_s, std::size_t, return icvs_of_program().stack_size;)
FULT_BOTH_SET(kmp_set_disp_num_buffers, int, (void)n;)
FULT_BOTH_GET(kmp_get_cancellation_status, int, return cancellation_enabled;)
FULT_BOTH_GET(kmp_get_num_known_threads, int, return processors();)
FULT_BOTH_DO(kmp_set_library_serial)
FULT_BOTH_DO(kmp_set_library_turnaround)
FULT_BOTH_DO(kmp_set_library_throughput)
FULT_BOTH_DO(kmp_set_warnings_on)
FULT_BOTH_DO(kmp_set_warnings_off)
void kmp_set_defaults(const char *) {}
void kmp_set_defaults_(const char *, std::size_t) {}

// Affinity is not changed from inside a program: no masks, as on a system without.
using mask = void *;
void kmp_create_affinity_mask(mask *m) { *m = nullptr; }
void kmp_destroy_affinity_mask(mask *m) { *m = nullptr; }
int kmp_set_affinity(mask *) { return -1; }
int kmp_get_affinity(mask *) { return -1; }
int kmp_get_affinity_max_proc() { return 0; }
int kmp_set_affinity_mask_proc(int, mask *) { return -1; }
int kmp_unset_affinity_mask_proc(int, mask *) { return -1; }
int kmp_get_affinity_mask_proc(int, mask *) { return -1; }
void kmp_create_affinity_mask_(mask *m) { *m = nullptr; }
void kmp_destroy_affinity_mask_(mask *m) { *m = nullptr; }
int kmp_set_affinity_(mask *) { return -1; }
int kmp_get_affinity_(mask *) { return -1; }
int kmp_get_affinity_max_proc_() { return 0; }
int kmp_set_affinity_mask_proc_(const int *, mask *) { return -1; }
int kmp_unset_affinity_mask_proc_(const int *, mask *) { return -1; }
int kmp_get_affinity_mask_proc_(const int *, mask *) { return -1; }

int __kmpc_get_target_offload() { return 0; } // disabled: there are no devices
int __kmpc_pause_resource(int, int) { return -1; }
int omp_control_tool(int, int, void *) { return -2; } // no tool
int omp_control_tool_(const int *, const int *, void *) { return -2; }

// Interoperability objects come from devices: each is omp_interop_none.
int omp_get_num_interop_properties(const void *) { return 0; }
std::intptr_t omp_get_interop_int(const void *, int, int *error) {
    if (error)
        *error = -1; // omp_irc_empty
    return 0;
}
void *omp_get_interop_ptr(const void *, int, int *error) {
    if (error)
        *error = -1;
    return nullptr;
}
const char *omp_get_interop_str(const void *, int, int *error) {
    if (error)
        *error = -1;
    return nullptr;
}
const char *omp_get_interop_name(const void *, int) { return nullptr; }
const char *omp_get_interop_type_desc(const void *, int) { return nullptr; }
const char *omp_get_interop_rc_desc(const void *, int) { return nullptr; }

int omp_get_num_interop_properties_(const void **o) { return omp_get_num_interop_properties(*o); }
std::intptr_t omp_get_interop_int_(const void **o, const int *property, int *error) {
    return omp_get_interop_int(*o, *property, error);
}
void *omp_get_interop_ptr_(const void **o, const int *property, int *error) {
    return omp_get_interop_ptr(*o, *property, error);
}

// By value, for Fortran's bind(c).
void omp_set_num_threads(int n);
void omp_set_dynamic(int on);
void omp_set_nested(int on);
void omp_set_max_active_levels(int n);
void omp_set_schedule(int kind, int chunk);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
void omp_set_affinity_format(const char *format);
std::size_t omp_get_affinity_format(char *buffer, std::size_t size);
void omp_display_affinity(const char *format);
std::size_t omp_capture_affinity(char *buffer, std::size_t size, const char *format);
void ompc_set_num_threads(int n) { omp_set_num_threads(n); }
void ompc_set_dynamic(int on) { omp_set_dynamic(on); }
void ompc_set_nested(int on) { omp_set_nested(on); }
void ompc_set_max_active_levels(int n) { omp_set_max_active_levels(n); }
void ompc_set_schedule(int kind, int chunk) { omp_set_schedule(kind, chunk); }
int ompc_get_ancestor_thread_num(int level) { return omp_get_ancestor_thread_num(level); }
int ompc_get_team_size(int level) { return omp_get_team_size(level); }
void ompc_set_affinity_format(const char *format) { omp_set_affinity_format(format); }
std::size_t ompc_get_affinity_format(char *buffer, std::size_t size) {
    return omp_get_affinity_format(buffer, size);
}
void ompc_display_affinity(const char *format) { omp_display_affinity(format); }
std::size_t ompc_capture_affinity(char *buffer, std::size_t size, const char *format) {
    return omp_capture_affinity(buffer, size, format);
}
void kmpc_set_blocktime(int n) { kmp_set_blocktime(n); }
void kmpc_set_library(int n) { kmp_set_library(n); }
void kmpc_set_stacksize(int n) { kmp_set_stacksize(n); }
void kmpc_set_stacksize_s(std::size_t n) { kmp_set_stacksize_s(n); }
void kmpc_set_disp_num_buffers(int n) { kmp_set_disp_num_buffers(n); }
void kmpc_set_defaults(const char *text) { kmp_set_defaults(text); }
int kmpc_set_affinity_mask_proc(int, mask *) { return -1; }
int kmpc_unset_affinity_mask_proc(int, mask *) { return -1; }
int kmpc_get_affinity_mask_proc(int, mask *) { return -1; }

} // extern "C"
