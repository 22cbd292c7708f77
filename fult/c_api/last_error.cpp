#include "last_error.hpp"

#include <cstdio>
#include <cstdlib>

#include <fult/fult.h>

namespace fult::detail {
namespace {

constexpr std::size_t max_error_size = 512;

// Allocated at a thread's first error: 512 bytes for every thread would take a third of what the loader
// reserves for libraries that are loaded late (static TLS).
__thread char *buffer;
__thread const char *last; // the buffer, a constant, or null: no error

// Frees it.
struct freed_at_thread_end {
    bool ended = false;
    ~freed_at_thread_end() {
        std::free(buffer);
        buffer = nullptr;
        last = nullptr;
        ended = true; // what later destructors of the thread refuse would not be freed
    }
};

char *buffer_of_thread() noexcept {
    static thread_local freed_at_thread_end end;
    if (!buffer && !end.ended)
        buffer = static_cast<char *>(std::malloc(max_error_size));
    return buffer;
}

void print(const char *call, const char *what) noexcept {
    char *const text = buffer_of_thread();
    if (text)
        std::snprintf(text, max_error_size, "%s%s%s", call, *call != '\0' ? ": " : "", what);
    last = text ? text : "fult: no memory";
}

} // namespace

void set_last_error(const char *what) noexcept {
    if (*what == '\0')
        last = nullptr;
    else
        print("", what);
}

void set_last_error(const char *call, const char *what) noexcept { print(call, what); }

} // namespace fult::detail

const char *fult_last_error(void) { return fult::detail::last ? fult::detail::last : ""; }
