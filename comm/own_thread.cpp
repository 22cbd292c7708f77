#include "comm/own_thread.hpp"

#include <pthread.h>
#include <sched.h>

namespace fult::comm::detail {
namespace {

// Read before a runtime binds its first thread.
struct allowed_processors {
    cpu_set_t set{};
    bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
};
const allowed_processors at_start;

} // namespace

void begin_own_thread(const char *name) noexcept {
    if (at_start.known)
        ::sched_setaffinity(0, sizeof at_start.set, &at_start.set);
    ::pthread_setname_np(::pthread_self(), name);
}

unsigned processors_at_start() noexcept {
    return at_start.known ? static_cast<unsigned>(CPU_COUNT(&at_start.set)) : 0;
}

std::vector<unsigned> list_of_processors_at_start() {
    std::vector<unsigned> all;
    for (unsigned i = 0; at_start.known && i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &at_start.set))
            all.push_back(i);
    return all;
}

} // namespace fult::comm::detail
