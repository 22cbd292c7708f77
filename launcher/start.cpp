#include "launcher/start.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace fult::run {
namespace {

struct channel {
    int ours;
    int theirs;
};

[[noreturn]] void failed(const std::string &what) {
    const char *remedy = errno == EMFILE   ? " (allow more: ulimit -n)"
                         : errno == EAGAIN ? " (allow more: ulimit -u)"
                                           : "";
    throw std::system_error(errno, std::generic_category(), what + remedy);
}

channel new_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        failed("a pipe for a rank's output");
    return {ends[0], ends[1]};
}

channel new_socket() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        failed("a socket for a rank");
    return {ends[0], ends[1]};
}

void bind_to(const std::vector<int> &processors) {
    if (processors.empty())
        return;
    int highest = 0;
    for (const int each : processors)
        highest = each > highest ? each : highest;
    const auto room = static_cast<std::size_t>(highest) + 1;
    cpu_set_t *const set = CPU_ALLOC(room);
    if (set == nullptr)
        return;
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    CPU_ZERO_S(bytes, set);
    for (const int each : processors)
        CPU_SET_S(static_cast<std::size_t>(each), bytes, set);
    // Not fatal: a processor may have been removed meanwhile, and the rank then runs on any that is allowed.
    ::sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
}

void set_number(const char *variable, int value) { ::setenv(variable, std::to_string(value).c_str(), 1); }

void set_environment(const start_order &order, int socket) {
    // The innermost launcher counts, not one that may have started fult-run.
    for (const char *other : {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_SIZE"})
        ::unsetenv(other);
    set_number("FULT_RUN_RANK", order.rank);
    set_number("FULT_RUN_SIZE", order.ranks);
    set_number("FULT_RUN_FD", socket);
    ::setenv("FULT_RUN_JOB", order.job.c_str(), 1);
    if (order.shares_processors) { // else each rank would bind its first worker to the same one
        ::setenv("FULT_WORKERS", "1", 0);
        ::setenv("FULT_BIND", "off", 0);
    }
    if (order.unbound)
        ::setenv("FULT_BIND", "off", 1);
}

// Runs in the new process.
[[noreturn]] void become(const start_order &order, pid_t parent, int socket, int output, int error,
                         int report) {
    // The parent may have died before the request took effect.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(1);
    ::setpgid(0, 0);
    order.guard.watch_me();
    ::dup2(order.input, 0);
    ::dup2(output, 1);
    ::dup2(error, 2);
    ::fcntl(socket, F_SETFD, 0);
    bind_to(order.processors);
    set_environment(order, socket);
    ::setrlimit(RLIMIT_NOFILE, &order.before.files);
    ::sigaction(SIGPIPE, &order.before.pipe_signal, nullptr);
    ::sigprocmask(SIG_SETMASK, &order.before.mask, nullptr);
    std::vector<char *> words;
    for (const std::string &word : order.command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    const int why = errno;
    if (::write(report, &why, sizeof why) < 0)
        ::_exit(126);
    ::_exit(127);
}

[[noreturn]] void report_failure(const std::string &program, int why) {
    const std::string what = "cannot run '" + program + "': " + std::strerror(why);
    if (why != ENOENT)
        throw start_error(what, 126);
    const bool path = program.find('/') != std::string::npos;
    throw start_error(what + (path ? "" : "; is it in PATH? One in this directory is ./" + program), 127);
}

} // namespace

started start_rank(const start_order &order) {
    const channel socket = new_socket();
    const channel output = new_pipe();
    const channel error = new_pipe();
    const channel report = new_pipe(); // closes when the program runs, else carries the error
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0)
        failed("a process for a rank");
    if (process == 0)
        become(order, parent, socket.theirs, output.theirs, error.theirs, report.theirs);
    // In both processes: the group must exist before it is signaled.
    ::setpgid(process, process);
    for (const channel *each : {&socket, &output, &error, &report})
        ::close(each->theirs);
    int why = 0;
    ssize_t got;
    do
        got = ::read(report.ours, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    ::close(report.ours);
    if (got == sizeof why) {
        while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR)
            ;
        order.guard.forget(process);
        report_failure(order.command[0], why);
    }
    for (const int ours : {output.ours, error.ours})
        ::fcntl(ours, F_SETFL, ::fcntl(ours, F_GETFL) | O_NONBLOCK);
    return {process, socket.ours, output.ours, error.ours};
}

} // namespace fult::run
