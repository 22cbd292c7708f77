// Messages that end the program, and warnings.
#pragma once

namespace fult::detail {

// Prints "fult: <call>: <what>" on standard error and aborts. For misuse and for broken invariants, never for
// lack of resources.
[[noreturn, gnu::format(printf, 2, 3)]] void fatal(const char *call, const char *format, ...) noexcept;

// True if the program ends because of a message that it has printed: by fatal, or by abort_reported
// (detail/misuse.hpp). Async-signal-safe.
bool end_is_reported() noexcept;

// Prints "fult: <message>" on standard error.
[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...) noexcept;

} // namespace fult::detail
