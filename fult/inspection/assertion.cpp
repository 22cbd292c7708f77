#include <cstdio>
#include <cstring>

#include <fult/detail/assertion.hpp>

#include "fult/base/check.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult::detail {
namespace {

// The path within the source tree: a build directory's way to it says nothing.
const char *without_parents(const char *file) noexcept {
    while (std::strncmp(file, "../", 3) == 0)
        file += 3;
    return file;
}

// What runs on this thread. Reads only what its own worker writes.
void describe_here(char *text, std::size_t size) noexcept {
    const worker *const w = this_worker();
    if (!w) {
        std::snprintf(text, size, "on a foreign thread");
        return;
    }
    const task *const t = w->current;
    if (!t)
        std::snprintf(text, size, "on worker %u, between tasks", w->index);
    else
        std::snprintf(text, size, "on worker %u, in task %u:%u", w->index,
                      static_cast<const worker *>(home_of(t))->index, slot_of(t));
}

} // namespace

void assertion_failed(const char *expression, const char *file, int line, const char *text) noexcept {
    char here[64];
    describe_here(here, sizeof here);
    fatal("assertion", "%s%s%s (%s:%d, %s)", expression, text ? ": " : "", text ? text : "",
          without_parents(file), line, here);
}

} // namespace fult::detail
