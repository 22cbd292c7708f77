#include "comm/base/library_thread.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <utility>

#include <fult/detail/stillness.hpp>

#include "fult/base/start_affinity.hpp"

namespace fult::comm::detail {
namespace {

constexpr const char *name_of_others = "fult-others";

// The name of a thread of this process, without its newline; empty if the thread has ended.
struct thread_name {
    char text[32] = "";
    explicit thread_name(pid_t thread) noexcept {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
        if (std::FILE *file = std::fopen(path, "re")) {
            if (std::fgets(text, sizeof text, file))
                text[std::strcspn(text, "\n")] = '\0';
            std::fclose(file);
        }
    }
};

void name_thread(pid_t thread, const char *name) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
    if (std::FILE *file = std::fopen(path, "we")) {
        std::fputs(name, file);
        std::fclose(file);
    }
}

} // namespace

library_thread::library_thread(const char *name) noexcept : number_(::gettid()) {
    fult::detail::run_on_processors_at_start();
    ::pthread_setname_np(::pthread_self(), name);
    fult::detail::know_thread(number_);
}

library_thread::~library_thread() { fult::detail::forget_thread(number_); }

foreign_threads::foreign_threads() noexcept : maker_(::gettid()), is_open_(true) {
    std::memcpy(name_, thread_name(maker_).text, sizeof name_ - 1);
    name_thread(maker_, name_of_others);
}

// Threads that the program starts meanwhile have other names.
void foreign_threads::close() noexcept {
    if (!std::exchange(is_open_, false))
        return;
    name_thread(maker_, name_);
    DIR *all = ::opendir("/proc/self/task");
    if (!all)
        return;
    while (const dirent *each = ::readdir(all))
        if (const pid_t thread = std::atoi(each->d_name);
            thread > 0 && std::strcmp(thread_name(thread).text, name_of_others) == 0)
            try {
                known_.push_back(thread);
                fult::detail::know_thread(thread);
            } catch (const std::bad_alloc &) { // then it counts as one of the program's
            }
    ::closedir(all);
}

foreign_threads::~foreign_threads() {
    close();
    for (const pid_t thread : known_)
        fult::detail::forget_thread(thread);
}

unsigned processors_at_start() noexcept {
    return static_cast<unsigned>(CPU_COUNT(&fult::detail::processors_at_start()));
}

std::vector<unsigned> list_of_processors_at_start() {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &fult::detail::processors_at_start()))
            all.push_back(i);
    return all;
}

} // namespace fult::comm::detail
