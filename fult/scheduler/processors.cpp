#include "processors.hpp"

#include <fult/detail/service.hpp>

namespace fult::detail {

constinit std::atomic<bool> processors_shared{false};

void share_processors(bool shared) noexcept { processors_shared.store(shared, std::memory_order_relaxed); }

// Counted per thread: a thread that polls rarely yields rarely.
void yield_if_processors_shared() noexcept {
    constexpr unsigned interval = 16;
    static thread_local unsigned looks = 0;
    if (shares_processors() && ++looks % interval == 0) [[unlikely]]
        ::sched_yield();
}

} // namespace fult::detail
