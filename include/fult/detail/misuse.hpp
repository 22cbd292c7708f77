// The end of a program that cannot go on.
#pragma once

#include <fult/detail/platform.hpp>

namespace fult::detail {

// Ends the program with a message that names the call and says what is wrong with it. From any thread.
[[noreturn]] FULT_API void misuse(const char *call, const char *what) noexcept;

} // namespace fult::detail
