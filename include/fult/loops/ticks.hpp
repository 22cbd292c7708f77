// A clock for the decision whether something is worth a task: the processor's own counter where reading it
// costs a few nanoseconds and no system library. Its unit is told by the constants below alone.
#pragma once

#if !defined(__x86_64__)
#include <chrono>
#endif
#include <cstdint>

#include <fult/detail/platform.hpp>

namespace fult::detail {

FULT_ALWAYS_INLINE std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
#endif
}

// So much must be left of a loop to give half of it away: about two microseconds. A step, after which the
// loop looks whether somebody wants a part of it, is not shorter, and at most four times as long.
#if defined(__x86_64__)
inline constexpr float ticks_worth_a_task = 4096; // of 1 to 4 GHz
#else
inline constexpr float ticks_worth_a_task = 2000;
#endif
inline constexpr float longest_step = 4 * ticks_worth_a_task;

} // namespace fult::detail
