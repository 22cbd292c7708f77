// Ends a program that cannot continue.
#pragma once

#include <fult/detail/platform.hpp>

namespace fult::detail {

// Ends the program with a message that names the call and the mistake. From any thread.
[[noreturn]] FULT_API void misuse(const char *call, const char *what) noexcept;

// Aborts. The caller has printed why: no report of a crash follows. From any thread.
[[noreturn]] FULT_API void abort_reported() noexcept;

} // namespace fult::detail
