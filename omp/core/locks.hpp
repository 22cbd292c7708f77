// Locks of OpenMP, and critical sections. A task that waits suspends; its thread runs others. Each is one
// word of the program's memory, zero when free.
#pragma once

#include <cstdint>

namespace fult::omp {

struct omp_task;

// Four bytes.
struct simple_lock {
    std::uint32_t word;
};
// gcc's omp_lock_t; the first word of clang's, and of a critical section's name.
static_assert(sizeof(simple_lock) == 4 && alignof(simple_lock) == 4);
void lock_init(simple_lock *l) noexcept;
void lock_set(simple_lock *l);
bool lock_test(simple_lock *l) noexcept;
void lock_unset(simple_lock *l);

// Sixteen bytes. Owned by a task.
struct nested_lock {
    simple_lock lock;
    std::int32_t count;
    const omp_task *owner;
};
// gcc's omp_nest_lock_t. clang's is a pointer.
static_assert(sizeof(nested_lock) == 8 + sizeof(void *) && alignof(nested_lock) == alignof(void *));
void nested_init(nested_lock *l) noexcept;
int nested_set(nested_lock *l);
int nested_test(nested_lock *l);
void nested_unset(nested_lock *l);

} // namespace fult::omp
