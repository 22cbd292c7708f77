#include <sched.h>

#include <fult/sync/spinlock.hpp>

namespace fult::detail {

// Pauses grow with the number of tries; then yields the core, perhaps to the owner.
void spinlock_back_off(unsigned tries) noexcept {
    if (tries > 64) {
        ::sched_yield();
        return;
    }
    for (unsigned i = 0; i < tries; i += 4)
        cpu_relax();
}

} // namespace fult::detail
