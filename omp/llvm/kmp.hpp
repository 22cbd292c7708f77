// clang's OpenMP interface: what the compiler and this front end agree on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fult/detail/assertion.hpp>

#include "omp/core/omp_task.hpp"

namespace fult::omp::kmp {

// Where a construct is in the source.
struct location {
    std::int32_t reserved_1, flags, reserved_2, reserved_3;
    const char *source; // ";file;function;line;column;;"
};
static_assert(sizeof(location) == 24 && offsetof(location, flags) == 4 && offsetof(location, source) == 16,
              "ident_t");
inline constexpr std::int32_t atomic_reduce = 0x10; // of location::flags: the code for atomics exists

// The number that the compiler's code passes back to most calls. Ours do not need it, but for the caches of
// threadprivate variables: it is the thread's.
inline int thread_id(const thread_state *at) noexcept { return at->id; }

struct task;
using task_entry = std::int32_t (*)(std::int32_t thread, task *t);
union clause_data {
    std::int32_t priority;
    task_entry destructors;
};

// The compiler's view of a task; its private variables follow, then the pointers to shared ones.
struct task {
    void *shareds;
    task_entry entry;
    std::int32_t part; // of an untied task
    clause_data destructors, priority;
};
static_assert(sizeof(task) == 40 && offsetof(task, entry) == 8 && offsetof(task, part) == 16 &&
                  offsetof(task, destructors) == 24 && offsetof(task, priority) == 32,
              "kmp_task_t");

enum task_flag : std::int32_t {
    tied_flag = 1,
    final_flag = 2,
    destructors_flag = 8,
    proxy_flag = 0x10,
    priority_flag = 0x20,
    detachable_flag = 0x40,
};

// Ours, in omp_task::flags.
enum frame_flag : std::uint32_t {
    has_destructors = first_front_flag,
    has_next_part = first_front_flag << 1,
    has_priority = first_front_flag << 2,
    is_detachable = first_front_flag << 3,
};

static_assert(std::popcount(std::uint32_t{has_destructors} | has_next_part | has_priority | is_detachable) ==
                  4,
              "a bit each");

inline omp_task *omp_task_of(const task *t) noexcept {
    omp_task *const f = static_cast<omp_task *const *>(static_cast<const void *>(t))[-1];
    FULT_ASSERT(f->data == t, "the word before a task is that of the library's task");
    return f;
}

// The element of a dependence list.
struct depend_info {
    std::uintptr_t address;
    std::size_t length;
    std::uint8_t kind;
};

static_assert(sizeof(depend_info) == 24 && offsetof(depend_info, length) == 8 &&
                  offsetof(depend_info, kind) == 16,
              "kmp_depend_info_t");

// Of a loop's schedule.
enum : std::int32_t {
    static_chunked = 33,
    static_block_each = 34,
    static_balanced_chunked = 45,
    distribute_chunked = 91,
    distribute_block_each = 92,
};

void begin_serial_region();
void end_serial_region();

} // namespace fult::omp::kmp
