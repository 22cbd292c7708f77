// Sleeping in the kernel on a word, with a deadline of the steady clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace fult::detail {

// Until the word is no longer `seen`, somebody wakes it, or the deadline (if there is one) has passed; may
// return earlier.
void futex_wait(const std::atomic<std::uint32_t> &word, std::uint32_t seen,
                const std::chrono::steady_clock::time_point *deadline = nullptr) noexcept;

// Wakes who sleeps on the address. Nothing is read there: the word may be gone already.
void futex_wake(const std::atomic<std::uint32_t> *word) noexcept;

} // namespace fult::detail
