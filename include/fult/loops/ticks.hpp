// A clock for the decision whether work is worth a task: the processor's cycle counter if reading it costs a
// few nanoseconds and no system library. The constants below define its unit.
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

// Half of a loop is split off only if this much is left: about two microseconds. It is also the minimum
// length of a step, after which requests are checked; the maximum is four times as long.
#if defined(__x86_64__)
inline constexpr float ticks_worth_a_task = 4096; // for 1 to 4 GHz
#else
inline constexpr float ticks_worth_a_task = 2000;
#endif
inline constexpr float longest_step = 4 * ticks_worth_a_task;

} // namespace fult::detail
