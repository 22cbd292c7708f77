#include "error.hpp"

#include <cstdarg>
#include <cstdio>

#include <fult/detail/misuse.hpp>

namespace fult::omp {
namespace {
void print(const char *format, std::va_list arguments) noexcept {
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    std::fprintf(stderr, "fult-omp: %s\n", text);
}
} // namespace

void fail(const char *format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    fult::detail::abort_reported();
}

void warn(const char *format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}
} // namespace fult::omp
