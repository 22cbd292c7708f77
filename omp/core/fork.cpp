#include "fork.hpp"

#include <pthread.h>

#include <fult/detail/assertion.hpp>

#include "error.hpp"

namespace fult::omp {
namespace {

constexpr auto count = static_cast<unsigned>(shared_state::end);
constinit std::mutex mutexes[count];

void before_fork() noexcept {
    for (std::mutex &each : mutexes)
        each.lock();
}
// In the parent and in the child.
void after_fork() noexcept {
    for (unsigned i = count; i-- > 0;)
        mutexes[i].unlock();
}

[[gnu::constructor]] void watch_forks() noexcept {
    if (::pthread_atfork(before_fork, after_fork, after_fork) != 0)
        fail("no memory for the handlers of a fork");
}

} // namespace

std::mutex &mutex_of(shared_state s) noexcept {
    FULT_ASSERT(s < shared_state::end);
    return mutexes[static_cast<unsigned>(s)];
}

} // namespace fult::omp
