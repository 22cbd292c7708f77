#include <sched.h>

#include <fult/sync/spinlock.hpp>

namespace fult::detail {

// Longer pauses as tries go on; then others may have the core, the owner perhaps.
void spinlock_back_off(unsigned tries) noexcept {
    if (tries > 64) {
        ::sched_yield();
        return;
    }
    for (unsigned i = 0; i < tries; i += 4)
        cpu_relax();
}

} // namespace fult::detail
