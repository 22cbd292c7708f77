// Detects a process that was forked while a runtime was running: the child has the memory of the tasks but
// none of the workers.
#pragma once

#include <atomic>

namespace fult::detail {

extern std::atomic<bool> forked_while_running; // set in the child, never cleared

inline bool in_forked_child() noexcept { return forked_while_running.load(std::memory_order_relaxed); }

// Registers the fork handler, once. May throw std::bad_alloc.
void watch_forks();

// Ends the program with a message about what a child may do.
[[noreturn]] void refuse_in_child() noexcept;

// The same, if this process is such a child.
inline void check_not_forked() noexcept {
    if (in_forked_child()) [[unlikely]]
        refuse_in_child();
}

} // namespace fult::detail
