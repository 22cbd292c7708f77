// fult-run: starts the ranks of a program on this machine.
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "launcher/arguments.hpp"
#include "launcher/job.hpp"
#include "launcher/start.hpp"

namespace {

// If the caller has closed one of the first three descriptors, pipes would be opened there.
void open_first_three() {
    int descriptor;
    do
        descriptor = ::open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= 2);
    if (descriptor > 2)
        ::close(descriptor);
}

// Ends as if by the signal, so that a surrounding shell loop ends too.
void die_of(int signal) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::raise(signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

int run(const fult::run::arguments &order) {
    int status = 0;
    int signal = 0;
    {
        fult::run::job job(order);
        status = job.run();
        signal = job.ended_by();
    }
    if (signal != 0)
        die_of(signal);
    return status;
}

} // namespace

int main(int count, char **words) {
    open_first_three();
    try {
        fult::run::arguments order;
        if (const auto status =
                fult::run::read_arguments(std::vector<std::string>(words + 1, words + count), order))
            return *status;
        return run(order);
    } catch (const fult::run::start_error &error) {
        std::fprintf(stderr, "fult-run: %s\n", error.what());
        return error.status;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "fult-run: %s\n", error.what());
        return 1;
    }
}
