// FULT_ASSERT: states what must hold, and checks it in builds with assertions.
//
// The builds of FULT define FULT_ASSERTIONS where Meson's b_ndebug leaves assertions on. A user's NDEBUG has
// no effect: programs that include these headers pay nothing unless they define FULT_ASSERTIONS themselves,
// then for all their files. No layout depends on it.
#pragma once

#include <fult/detail/platform.hpp>

#if defined(FULT_ASSERTIONS) && FULT_ASSERTIONS
#define FULT_CHECKED 1
#else
#define FULT_CHECKED 0
#endif

// FULT_ASSERT(condition), FULT_ASSERT(condition, "what follows if not"). Without assertions the condition is
// compiled, but not evaluated.
#if FULT_CHECKED
#define FULT_ASSERT(condition, ...) \
    (static_cast<bool>(condition)   \
         ? static_cast<void>(0)     \
         : ::fult::detail::assertion_failed(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__))
#else
#define FULT_ASSERT(condition, ...) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

namespace fult::detail {

// True in builds with assertions, for checks that take more than an expression.
inline constexpr bool assertions_on = FULT_CHECKED != 0;

// Prints the expression, its place, and what runs on this thread, and aborts. Allocates nothing. From any
// thread.
[[noreturn]] FULT_COLD FULT_API void assertion_failed(const char *expression, const char *file, int line,
                                                      const char *text = nullptr) noexcept;

} // namespace fult::detail
