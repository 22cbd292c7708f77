// The Fortran names: arguments by reference, logicals as four bytes, `_8_` for eight-byte integers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "omp/core/control.hpp"
#include "omp/core/icv.hpp"
#include "omp/core/locks.hpp"

using namespace fult::omp;
using int4 = std::int32_t;
using int8 = std::int64_t;
static_assert(sizeof(int) == sizeof(int4) && sizeof(void *) == sizeof(std::uintptr_t), "Fortran's kinds");

namespace {
// Numbers of four bytes, from `get`, as numbers of eight.
template <class Get> void widen(int count, int8 *into, const Get &get) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    get(numbers.data());
    std::copy(numbers.begin(), numbers.end(), into);
}
} // namespace

extern "C" {

#define FULT_GET(NAME) \
    int NAME();        \
    int4 NAME##_() { return NAME(); }
#define FULT_SET(NAME)                                           \
    void NAME(int);                                              \
    void NAME##_(const int4 *value) { NAME(*value); }            \
    void NAME##_8_(const int8 *value) {                          \
        NAME(*value > 0x7fffffff    ? 0x7fffffff                 \
             : *value < -0x7fffffff ? -0x7fffffff                \
                                    : static_cast<int>(*value)); \
    }
#define FULT_OF_LEVEL(NAME)                                                             \
    int NAME(int);                                                                      \
    int4 NAME##_(const int4 *level) { return NAME(*level); }                            \
    int4 NAME##_8_(const int8 *level) {                                                 \
        return *level > 0x7fffffff || *level < 0 ? -1 : NAME(static_cast<int>(*level)); \
    }

FULT_GET(omp_get_active_level)
FULT_GET(omp_get_cancellation)
FULT_GET(omp_get_default_device)
FULT_GET(omp_get_device_num)
FULT_GET(omp_get_dynamic)
FULT_GET(omp_get_initial_device)
FULT_GET(omp_get_level)
FULT_GET(omp_get_max_active_levels)
FULT_GET(omp_get_max_task_priority)
FULT_GET(omp_get_max_teams)
FULT_GET(omp_get_max_threads)
FULT_GET(omp_get_nested)
FULT_GET(omp_get_num_devices)
FULT_GET(omp_get_num_places)
FULT_GET(omp_get_num_procs)
FULT_GET(omp_get_num_teams)
FULT_GET(omp_get_num_threads)
FULT_GET(omp_get_partition_num_places)
FULT_GET(omp_get_place_num)
FULT_GET(omp_get_proc_bind)
FULT_GET(omp_get_supported_active_levels)
FULT_GET(omp_get_team_num)
FULT_GET(omp_get_teams_thread_limit)
FULT_GET(omp_get_thread_limit)
FULT_GET(omp_get_thread_num)
FULT_GET(omp_in_final)
FULT_GET(omp_in_explicit_task)
FULT_GET(omp_in_parallel)
FULT_GET(omp_is_initial_device)
FULT_SET(omp_set_default_device)
FULT_SET(omp_set_dynamic)
FULT_SET(omp_set_max_active_levels)
FULT_SET(omp_set_nested)
FULT_SET(omp_set_num_teams)
FULT_SET(omp_set_num_threads)
FULT_SET(omp_set_teams_thread_limit)
FULT_OF_LEVEL(omp_get_ancestor_thread_num)
FULT_OF_LEVEL(omp_get_team_size)
FULT_OF_LEVEL(omp_get_place_num_procs)

double omp_get_wtime();
double omp_get_wtick();
double omp_get_wtime_() { return omp_get_wtime(); }
double omp_get_wtick_() { return omp_get_wtick(); }

void omp_set_schedule(int kind, int chunk);
void omp_get_schedule(int *kind, int *chunk);
void omp_set_schedule_(const int4 *kind, const int4 *chunk) { omp_set_schedule(*kind, *chunk); }
void omp_set_schedule_8_(const int4 *kind, const int8 *chunk) {
    omp_set_schedule(*kind, *chunk > 0x7fffffff ? 0x7fffffff : static_cast<int>(*chunk));
}
void omp_get_schedule_(int4 *kind, int4 *chunk) { omp_get_schedule(kind, chunk); }
void omp_get_schedule_8_(int4 *kind, int8 *chunk) {
    int value = 0;
    omp_get_schedule(kind, &value);
    *chunk = value;
}

// A lock is in the variable itself; a nested one, which is larger, on the heap.
void omp_init_lock_(simple_lock *l) { lock_init(l); }
void omp_destroy_lock_(simple_lock *) {}
void omp_set_lock_(simple_lock *l) { lock_set(l); }
void omp_unset_lock_(simple_lock *l) { lock_unset(l); }
int4 omp_test_lock_(simple_lock *l) { return lock_test(l); }
void omp_init_nest_lock_(nested_lock **l) { nested_init(*l = new nested_lock); }
void omp_destroy_nest_lock_(nested_lock **l) { delete *l; }
void omp_set_nest_lock_(nested_lock **l) { nested_set(*l); }
void omp_unset_nest_lock_(nested_lock **l) { nested_unset(*l); }
int4 omp_test_nest_lock_(nested_lock **l) { return nested_test(*l); }

void omp_get_place_proc_ids(int place, int *ids);
void omp_get_partition_place_nums(int *numbers);
void omp_get_place_proc_ids_(const int4 *place, int4 *ids) { omp_get_place_proc_ids(*place, ids); }
void omp_get_place_proc_ids_8_(const int8 *place, int8 *ids) {
    const int number = static_cast<int>(*place);
    widen(omp_get_place_num_procs(number), ids, [number](int *to) { omp_get_place_proc_ids(number, to); });
}
void omp_get_partition_place_nums_(int4 *numbers) { omp_get_partition_place_nums(numbers); }
void omp_get_partition_place_nums_8_(int8 *numbers) {
    widen(omp_get_partition_num_places(), numbers, omp_get_partition_place_nums);
}

void omp_fulfill_event(std::uintptr_t event);
void omp_fulfill_event_(std::uintptr_t event) {
    omp_fulfill_event(event);
} // its argument has the attribute `value`
int omp_pause_resource(int, int);
int omp_pause_resource_all(int);
int4 omp_pause_resource_(const int4 *kind, const int4 *device) { return omp_pause_resource(*kind, *device); }
int4 omp_pause_resource_all_(const int4 *kind) { return omp_pause_resource_all(*kind); }
void omp_display_env(int verbose);
void omp_display_env_(const int4 *verbose) { omp_display_env(*verbose); }
void omp_display_env_8_(const int8 *verbose) { omp_display_env(*verbose != 0); }

struct allocator_trait;
std::uintptr_t omp_init_allocator(std::uintptr_t, int, const allocator_trait *);
std::uintptr_t omp_init_allocator_(const std::uintptr_t *space, const int4 *count,
                                   const allocator_trait *traits) {
    return omp_init_allocator(*space, *count, traits);
}
std::uintptr_t omp_init_allocator_8_(const std::uintptr_t *space, const int8 *count,
                                     const allocator_trait *traits) {
    return omp_init_allocator(*space, static_cast<int>(*count), traits);
}
void omp_destroy_allocator(std::uintptr_t);
void omp_destroy_allocator_(const std::uintptr_t *a) { omp_destroy_allocator(*a); }
void omp_set_default_allocator(std::uintptr_t);
std::uintptr_t omp_get_default_allocator();
void omp_set_default_allocator_(const std::uintptr_t *a) { omp_set_default_allocator(*a); }
std::uintptr_t omp_get_default_allocator_() { return omp_get_default_allocator(); }

// Characters come with a hidden length, and are padded with blanks.
void omp_set_affinity_format(const char *);
static std::string from_fortran(const char *text, std::size_t length) {
    std::string trimmed(text, length);
    trimmed.erase(trimmed.find_last_not_of(' ') + 1);
    return trimmed;
}
void omp_set_affinity_format_(const char *format, std::size_t length) {
    omp_set_affinity_format(from_fortran(format, length).c_str());
}
static void to_fortran(const std::string &text, char *buffer, std::size_t size) {
    std::memset(buffer, ' ', size);
    std::memcpy(buffer, text.data(), text.size() < size ? text.size() : size);
}
int4 omp_get_affinity_format_(char *buffer, std::size_t size) {
    const std::string text = icvs_of_program().affinity_format;
    to_fortran(text, buffer, size);
    return static_cast<int4>(text.size());
}
void omp_display_affinity(const char *);
void omp_display_affinity_(const char *format, std::size_t length) {
    omp_display_affinity(from_fortran(format, length).c_str());
}
int4 omp_capture_affinity_(char *buffer, const char *format, std::size_t size, std::size_t length) {
    const std::string text = affinity_text(from_fortran(format, length).c_str());
    to_fortran(text, buffer, size);
    return static_cast<int4>(text.size());
}

} // extern "C"
