#include "spin_lock.hpp"

#include <fult/detail/forked.hpp>

namespace fult::detail {

// A lock that is held is only read, so that its cache line stays with the owner.
void spin_lock::lock_slow() noexcept {
    spin_wait wait;
    do
        while (is_held())
            if (wait())
                check_not_forked();                          // the holder does not exist in the child
    while (held_.exchange(true, std::memory_order_acquire)); // pairs with unlock
}

} // namespace fult::detail
