#include "dock.hpp"

#include <fult/detail/platform.hpp>

#include "wait.hpp"

namespace fult::omp {

frame *dock::await() noexcept {
    state_.store(waits(), std::memory_order_relaxed);
    const bool came = comes_soon([this] { return state_.load(std::memory_order_relaxed) != waits(); });
    frame *expected = waits();
    if (!came && state_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed))
        return nullptr;
    return state_.load(std::memory_order_acquire); // pairs with offer
}

} // namespace fult::omp
