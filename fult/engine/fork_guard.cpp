// Detects a process that was forked while a runtime was running.
#include <new>
#include <pthread.h>

#include <fult/detail/forked.hpp>

#include "fult/base/check.hpp"
#include "fult/inspection/dump_signal.hpp"
#include "fult/scheduler/parker.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult::detail {

constinit std::atomic<bool> forked_while_running{false};

namespace {

// Runs in the child, on its only thread. Any spawn, join or wait there polls its worker's request flags
// first, so no path costs more for this check.
void after_fork() noexcept {
    if (!running_team())
        return;
    forked_while_running.store(true, std::memory_order_relaxed);
    // Their descriptors are the parent's as well.
    parker::forget_bell();
    forget_dump_signal();
    if (worker *w = this_worker()) {
        w->sources.for_each([](auto &source) { source.drop_in_forked_child(); });
        w->request_flags.fetch_or(forked, std::memory_order_relaxed);
    }
}

} // namespace

void watch_forks() {
    static const bool watched = ::pthread_atfork(nullptr, nullptr, [] { after_fork(); }) == 0;
    if (!watched)
        throw std::bad_alloc();
}

void refuse_in_child() noexcept {
    fatal("fork",
          "this process was forked while a runtime was running, and has no workers: the child may only call "
          "exec or _exit, and no function of FULT; fork before the runtime starts, or use posix_spawn");
}

} // namespace fult::detail
