// Locks of OpenMP, and critical sections. A task that waits suspends; its thread runs others. Each is one
// word of the program's memory, zero when free.
#pragma once

#include <cstdint>

namespace fult::omp {

struct frame;

// Four bytes.
struct simple_lock {
    std::uint32_t word;
};
void lock_init(simple_lock *l) noexcept;
void lock_set(simple_lock *l);
bool lock_test(simple_lock *l) noexcept;
void lock_unset(simple_lock *l);

// Sixteen bytes. Owned by a task.
struct nested_lock {
    simple_lock lock;
    std::int32_t count;
    const frame *owner;
};
void nested_init(nested_lock *l) noexcept;
int nested_set(nested_lock *l);
int nested_test(nested_lock *l);
void nested_unset(nested_lock *l);

} // namespace fult::omp
