#include "last_thread.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include <fult/detail/assertion.hpp>
#include <fult/detail/stillness.hpp>

#include "fork.hpp"
#include "holders.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

std::atomic<bool> initial_has_ended{false}; // the initial thread: it runs its last destructors, or is gone
constinit std::atomic<bool> is_awaited{false};

// Its entry stays in the process, as a zombie, until that ends.
bool is_gone(pid_t thread) noexcept {
    char path[64], line[512] = "";
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
    if (std::FILE *const file = std::fopen(path, "re")) {
        if (!std::fgets(line, sizeof line, file))
            line[0] = 0;
        std::fclose(file);
    }
    const char *const name_end = std::strrchr(line, ')');
    return name_end && std::strncmp(name_end, ") Z", 3) == 0;
}

// A runtime of the program's own has a thread of the program as its worker 0.
bool program_is_over() noexcept {
    return is_gone(::getpid()) && (started_workers() == 0 || runtime_is_own()) &&
           detail::is_left_by_program(runtime_is_own() && worker_0_may_block());
}

// Nothing reports the end of a thread that has not used OpenMP, so this looks now and then: in the few
// programs whose initial thread leaves others behind. One look may miss a thread that another one starts just
// before it ends.
void watch() noexcept {
    detail::know_thread(static_cast<pid_t>(::syscall(SYS_gettid)));
    constexpr unsigned between_looks = 20'000; // microseconds
    for (unsigned looks = 0; looks < 2; looks = program_is_over() ? looks + 1 : 0)
        ::usleep(between_looks);
    std::exit(0); // as the C library does on the last thread
}

void initial_thread_ends(void *) noexcept {
    {
        const std::lock_guard lock(mutex_of(shared_state::runtime));
        initial_has_ended.store(true, std::memory_order_relaxed);
        if (started_workers() == 0)
            return; // what starts them calls await_last_thread, under the mutex
    }
    if (runtime_is_own() && worker_0_may_block())
        release_held_workers(*worker_thread(0));
    await_last_thread();
}

pthread_key_t key{};

[[gnu::constructor]] void watch_from_the_start() noexcept {
    if (is_initial_thread())
        watch_initial_thread();
}

} // namespace

void watch_initial_thread() noexcept {
    FULT_ASSERT(is_initial_thread());
    // Unlike the destructor of a thread_local object, this is not called by exit. Without a key the process
    // stays.
    static const bool has_key = ::pthread_key_create(&key, initial_thread_ends) == 0;
    if (has_key)
        ::pthread_setspecific(key, &initial_has_ended);
}

void await_last_thread() noexcept {
    if (!initial_has_ended.load(std::memory_order_relaxed) ||
        is_awaited.exchange(true, std::memory_order_relaxed))
        return;
    try {
        std::thread(watch).detach();
    } catch (const std::exception &) { // the process goes on: it has to be ended from outside
    }
}

} // namespace fult::omp
