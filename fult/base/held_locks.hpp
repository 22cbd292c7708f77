// Spinlocks that a kernel thread holds: counted by fult::spinlock in programs compiled without NDEBUG,
// checked where a task suspends.
#pragma once

#include <fult/detail/platform.hpp>

namespace fult::detail {

FULT_API void spinlock_taken() noexcept; // as <fult/sync/spinlock.hpp> declares them
FULT_API void spinlock_released() noexcept;

#ifdef NDEBUG
inline void check_no_spinlock(const char *) noexcept {}
#else
// Ends the program where this kernel thread holds a spinlock.
void check_no_spinlock(const char *call) noexcept;
#endif

} // namespace fult::detail
