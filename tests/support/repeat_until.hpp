// Something that a test repeats: far more often than the bound that it tests, and not forever.
#pragma once

#include <atomic>

namespace fult::testing {

constexpr long give_up = 5'000'000;

// Repeats `step` until the condition holds; returns whether it did.
template <class Step> bool repeat_until(const std::atomic<bool> &condition, Step step) {
    for (long i = 0; i < give_up; ++i) {
        if (condition.load(std::memory_order_relaxed))
            return true;
        step();
    }
    return false;
}

} // namespace fult::testing
