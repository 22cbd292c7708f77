// Makes the system calls that the runtime depends on fail on request: mmap, mprotect, the advice that
// installs a guard page, and pthread_create of this executable are these. Include it in one source of a test.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scale.hpp"

namespace fult::testing {

// How many calls succeed before `failures` of them fail.
struct failure_plan {
    std::atomic<long> before{0};
    std::atomic<long> failures{0};
    std::atomic<long> failed{0};
    std::atomic<long> together{0}; // number of simultaneous failures: each waits for the others

    void arm(long succeed_first, long then_fail = 1L << 40) {
        failed = 0;
        together = 0;
        before = succeed_first;
        failures = then_fail;
    }
    void disarm() {
        failures = 0;
        one_in = 0;
    }
    bool fails_now() {
        if (one_in.load(std::memory_order_relaxed) != 0)
            return !spared && fails_this_time();
        if (failures.load(std::memory_order_relaxed) <= 0 || before.fetch_sub(1) > 0 ||
            failures.fetch_sub(1) <= 0)
            return false;
        failed.fetch_add(1);
        while (failed.load() < together.load())
            ::sched_yield();
        return true;
    }

    // Now and then, by a seed: after one call in `calls` on average the next ones fail, at most `row` of
    // them.
    std::atomic<std::uint32_t> one_in{0}; // 0: not so
    std::atomic<std::uint32_t> row{1};
    std::atomic<std::uint64_t> state{0};
    std::atomic<long> left{0};                                // of the row that fails now
    static inline thread_local constinit bool spared = false; // this thread's calls do not fail that way

    void arm_now_and_then(std::uint64_t seed, std::uint32_t calls, std::uint32_t longest_row) {
        disarm();
        failed = 0;
        left = 0;
        state = seed;
        row = longest_row;
        one_in = calls;
    }

  private:
    bool fails_this_time() {
        if (left.load(std::memory_order_relaxed) <= 0 || left.fetch_sub(1) <= 0) {
            std::uint64_t z = state.fetch_add(0x9e3779b97f4a7c15U); // splitmix64
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
            z ^= z >> 31;
            if ((z & 0xffff'ffff) % one_in.load(std::memory_order_relaxed) != 0)
                return false;
            left = static_cast<long>((z >> 32) % row.load(std::memory_order_relaxed));
        }
        failed.fetch_add(1);
        return true;
    }
};

inline failure_plan mmap_plan, mprotect_plan, guard_plan, thread_plan;

// The sanitizers of clang live in the executable: their own definitions of these cannot be called from here.
#if defined(FULT_TEST_SANITIZED) && defined(__clang__)
inline constexpr bool can_fail = false;
#else
inline constexpr bool can_fail = true;
#endif

} // namespace fult::testing

#if !defined(FULT_TEST_SANITIZED) || !defined(__clang__)
extern "C" {

#if defined(FULT_TEST_SANITIZED) // it has to see what it keeps shadows of
void *__interceptor_mmap(void *, size_t, int, int, int,
                         off_t) noexcept;                 // NOLINT(bugprone-reserved-identifier)
int __interceptor_mprotect(void *, size_t, int) noexcept; // NOLINT(bugprone-reserved-identifier)
#endif

void *mmap(void *where, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
    if (fult::testing::mmap_plan.fails_now()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
#if defined(FULT_TEST_SANITIZED)
    return __interceptor_mmap(where, bytes, protection, flags, fd, offset);
#else
    // the system call itself: this may run before dlsym can
    return reinterpret_cast<void *>(::syscall(SYS_mmap, where, bytes, protection, flags, fd, offset));
#endif
}

int mprotect(void *where, size_t bytes, int protection) noexcept {
    if (fult::testing::mprotect_plan.fails_now()) {
        errno = ENOMEM;
        return -1;
    }
#if defined(FULT_TEST_SANITIZED)
    return __interceptor_mprotect(where, bytes, protection);
#else
    return static_cast<int>(::syscall(SYS_mprotect, where, bytes, protection));
#endif
}

int madvise(void *where, size_t bytes, int advice) noexcept {
    constexpr int guard_install = 102; // Linux 6.13; not in Debian 12's headers
    if (advice == guard_install && fult::testing::guard_plan.fails_now()) {
        errno = ENOMEM;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_madvise, where, bytes, advice));
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) noexcept {
    if (fult::testing::thread_plan.fails_now())
        return EAGAIN;
    using function = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static const auto next = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
    return next(thread, attributes, body, argument);
}
}
#endif
