// Futex waits with a deadline on the steady clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace fult::detail {

// Blocks until the word differs from `seen`, a wake-up arrives, or the deadline (if any) has passed; may
// return early.
void futex_wait(const std::atomic<std::uint32_t> &word, std::uint32_t seen,
                const std::chrono::steady_clock::time_point *deadline = nullptr) noexcept;

// Wakes the sleepers on the address. Does not read it: the word may be destroyed already.
void futex_wake(const std::atomic<std::uint32_t> *word) noexcept;

} // namespace fult::detail
