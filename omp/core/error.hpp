#pragma once

namespace fult::omp {
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char *format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...) noexcept;
} // namespace fult::omp
