// How much a test does: as written in an ordinary build, less where each step costs much more.
#pragma once

#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FULT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FULT_TEST_SANITIZED 1
#endif
#endif

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace fult::testing {

#if defined(FULT_TEST_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

inline bool under_valgrind() {
#if defined(RUNNING_ON_VALGRIND)
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

// Whether an emulator runs this program: it cannot start itself again then, as threadsafe death tests do.
// Meson sets the variable for cross-built tests.
inline bool emulated() { return std::getenv("MESON_EXE_WRAPPER") != nullptr; }

// `rounds`, or a fraction of them under a sanitizer, Valgrind or an emulator; never less than 1.
inline std::size_t scaled(std::size_t rounds) {
    const std::size_t divisor = under_valgrind() || emulated() ? 100
                                : sanitized                    ? 50
                                                               : 1; // TSan: at most 8,128 stacks
    return rounds < divisor ? 1 : rounds / divisor;
}

} // namespace fult::testing
