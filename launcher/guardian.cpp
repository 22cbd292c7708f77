#include "launcher/guardian.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace fult::run {
namespace {

// A record in the pipe: a process group to watch, the negative of one to forget, or the end of the watch.
constexpr pid_t end_of_watch = 0;
static_assert(sizeof(pid_t) <= PIPE_BUF, "a record is written and read in one piece");

void tell(int pipe, pid_t record) noexcept {
    while (::write(pipe, &record, sizeof record) < 0 && errno == EINTR)
        ;
}

[[noreturn]] void keep_watch(int pipe, const std::string &job) {
    std::set<pid_t> groups;
    for (;;) {
        pid_t record = 0; // written and read in one piece: pipes do not split 4 bytes
        const ssize_t got = ::read(pipe, &record, sizeof record);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof record)
            break; // fult-run has ended
        if (record == end_of_watch)
            ::_exit(0);
        if (record > 1)
            groups.insert(record);
        else
            groups.erase(-record);
    }
    for (const pid_t group : groups)
        ::kill(-group, SIGKILL);
    remove_shared_memory(job);
    ::_exit(1);
}

} // namespace

void remove_shared_memory(const std::string &job) noexcept {
    DIR *const directory = ::opendir("/dev/shm");
    if (directory == nullptr)
        return;
    const std::string mine = "fult-" + job;
    while (const dirent *entry = ::readdir(directory))
        if (std::string_view(entry->d_name).starts_with(mine))
            ::unlinkat(::dirfd(directory), entry->d_name, 0);
    ::closedir(directory);
}

guardian::guardian(const std::string &job) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "a pipe");
    process_ = ::fork();
    if (process_ < 0)
        throw std::system_error(errno, std::generic_category(), "a process to clean up after this one");
    if (process_ == 0) {
        ::setsid(); // detaches from the terminal's signals
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
            ::signal(signal, SIG_IGN);
        ::prctl(PR_SET_NAME, "fult-run-guard");
        // A process that waits for the end of fult-run's output must not wait for this process too.
        const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd <= 2; ++fd)
            ::dup2(nothing, fd);
        const int mine = ::dup2(ends[0], 3);
        ::close_range(4, ~0U, 0);
        keep_watch(mine, job);
    }
    ::close(ends[0]);
    pipe_ = ends[1];
}

guardian::~guardian() {
    tell(pipe_, end_of_watch);
    ::close(pipe_);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR)
        ;
}

void guardian::watch_me() const noexcept { tell(pipe_, ::getpid()); }

void guardian::forget(pid_t rank) const noexcept { tell(pipe_, -rank); }

} // namespace fult::run
