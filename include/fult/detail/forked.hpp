// The child of a fork of a process in which a runtime was running: it has the memory of the tasks and none of
// the workers. Internal: for libraries of this project that are built on the runtime.
#pragma once

#include <atomic>

#include <fult/detail/platform.hpp>

namespace fult::detail {

FULT_API extern std::atomic<bool> forked_while_running; // set in the child, never cleared

// Registers the fork handler that sets it, once. May throw std::bad_alloc.
void watch_forks();

inline bool in_forked_child() noexcept { return forked_while_running.load(std::memory_order_relaxed); }

// Ends the program with a message about what a child may do.
[[noreturn]] FULT_API void refuse_in_child() noexcept;

// The same, if this process is such a child.
inline void check_not_forked() noexcept {
    if (in_forked_child()) [[unlikely]]
        refuse_in_child();
}

} // namespace fult::detail
