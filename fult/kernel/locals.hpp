// The task-local values of a task, from its spawn to its end.
#pragma once

#include <fult/detail/locals.hpp>

namespace fult::detail {

// As end_locals (fult/tasks/task.hpp), for this foreign thread, which continues without values.
void end_locals_of_thread() noexcept;

bool has_entry(local_values &values, local_key key) noexcept;              // perhaps with a null value
void make_room(local_values &values, local_key key);                       // throws std::bad_alloc
void put_local(local_values &values, local_key key, void *value) noexcept; // there must be room
// Copies the caller's values. Throws what the keys' copy functions throw; the copies made so far are then
// destroyed with `values`.
void inherit_locals(local_values &values);

} // namespace fult::detail
