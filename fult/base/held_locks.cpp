#include "held_locks.hpp"

#include "check.hpp"

namespace fult::detail {
namespace {
__thread unsigned held = 0; // accessed by non-inlined functions only: a task may resume on a different thread
} // namespace

FULT_OPAQUE void spinlock_taken() noexcept { ++held; }
FULT_OPAQUE void spinlock_released() noexcept {
    if (held-- == 0)
        fatal("spinlock::unlock",
              "this thread holds no spinlock; unlock it once for each lock, without suspending in between");
}

#ifndef NDEBUG
FULT_OPAQUE void check_no_spinlock(const char *call) noexcept {
    if (held != 0)
        fatal(call, "the task suspends while it holds a spinlock; unlock it first, or use a qlock");
}
#endif

} // namespace fult::detail
