// The locals of a task, from its spawn to its end.
#pragma once

#include <fult/detail/locals.hpp>

namespace fult::detail {

// Calls the keys' destructors until nothing is left, four rounds at most, as they may set values anew. From
// the task whose they are. May suspend.
void end_locals(local_values &values) noexcept;

// The same for this foreign thread, which goes on.
void end_locals_of_thread() noexcept;

void make_room(local_values &values, local_key key);                       // throws std::bad_alloc
void put_local(local_values &values, local_key key, void *value) noexcept; // there is room
// Copies of the caller's. Throws what the keys' copies throw; what is there then ends with `values`.
void inherit_locals(local_values &values);

} // namespace fult::detail
