#include "launcher/signals.hpp"

#include <cerrno>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fult/base/no_descriptor.hpp"

namespace fult::run {

signals::signals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    ::sigaddset(&ours, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2}) {
        struct sigaction now {};
        ::sigaction(signal, nullptr, &now);
        if (now.sa_handler != SIG_IGN)
            ::sigaddset(&ours, signal);
    }
    ::signal(SIGCHLD, SIG_DFL); // if the caller ignored it, statuses would be lost
    ::sigprocmask(SIG_BLOCK, &ours, &before_.mask);
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignored, &before_.pipe_signal);
    descriptor_ = ::signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor_ < 0)
        fult::detail::throw_no_descriptor(errno, "no descriptor for signals", "signalfd4");
    // Three descriptors per rank; shells usually allow 1024.
    ::getrlimit(RLIMIT_NOFILE, &before_.files);
    rlimit wanted = before_.files;
    wanted.rlim_cur = wanted.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &wanted);
}

signals::~signals() { ::close(descriptor_); }

std::optional<int> signals::next() noexcept {
    signalfd_siginfo info;
    if (::read(descriptor_, &info, sizeof info) != sizeof info)
        return {};
    return static_cast<int>(info.ssi_signo);
}

} // namespace fult::run
