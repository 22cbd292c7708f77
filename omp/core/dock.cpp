#include "dock.hpp"

#include <fult/detail/platform.hpp>

#include "wait.hpp"

namespace fult::omp {

frame *dock::await() noexcept {
    FULT_ASSERT(state_.load(std::memory_order_relaxed) != waits(), "one task is docked at a time");
    state_.store(waits(), std::memory_order_relaxed);
    const bool came = comes_soon([this] { return state_.load(std::memory_order_relaxed) != waits(); });
    frame *expected = waits();
    if (!came && state_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed))
        return nullptr;
    frame *const offered = state_.load(std::memory_order_acquire); // pairs with offer
    FULT_ASSERT(offered && offered != waits(), "an offer is not taken back");
    return offered;
}

} // namespace fult::omp
