#include "check.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fult/detail/misuse.hpp>

namespace fult::detail {
namespace {

constinit std::atomic<bool> reported{false};

// One write per message, so that messages of several threads do not mix.
void say(const char *call, const char *format, std::va_list arguments) noexcept {
    char text[1024];
    int length = std::snprintf(text, sizeof text, call ? "fult: %s: " : "fult: ", call);
    const int room = static_cast<int>(sizeof text) - length - 1;
    const int body = std::vsnprintf(text + length, static_cast<std::size_t>(room), format, arguments);
    length += body < room ? body : room - 1;
    text[length++] = '\n';
    if (::write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0)
        return;
}

} // namespace

void fatal(const char *call, const char *format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    say(call, format, arguments);
    va_end(arguments);
    abort_reported();
}

void abort_reported() noexcept {
    reported.store(true, std::memory_order_relaxed);
    std::abort();
}

bool end_is_reported() noexcept { return reported.load(std::memory_order_relaxed); }

void warn(const char *format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    say(nullptr, format, arguments);
    va_end(arguments);
}

} // namespace fult::detail
