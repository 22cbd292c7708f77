// A call made by the child of a fork: what it wrote, and how it ended.
#pragma once

#include <csignal>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fult::testing {

struct end_of_child {
    std::string said; // to its standard error
    int status = 0;   // of wait(2)

    bool was_refused() const {
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
               said.find("fult: fork: this process was forked while a runtime was running") !=
                   std::string::npos;
    }
    bool was_silent() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0 && said.empty(); }
};

// Nothing if there is no process or no descriptor to be had.
inline std::optional<end_of_child> run_in_child(const std::function<void()> &body) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return std::nullopt;
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a child that hangs ends with a program that fails
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        body();
        ::_exit(0);
    }
    ::close(ends[1]);
    end_of_child how;
    char text[1024];
    for (ssize_t got; child > 0 && (got = ::read(ends[0], text, sizeof text)) > 0;)
        how.said.append(text, static_cast<std::size_t>(got));
    ::close(ends[0]);
    if (child < 0)
        return std::nullopt;
    if (::waitpid(child, &how.status, 0) != child)
        how.status = -1; // no end that a test expects
    return how;
}

} // namespace fult::testing
