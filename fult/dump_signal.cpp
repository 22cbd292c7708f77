#include "dump_signal.hpp"

#include <cerrno>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include "dump.hpp"

namespace fult::detail {
namespace {

constexpr eventfd_t one_report = 1;
constexpr eventfd_t the_end = 1u << 30; // no process gets so many signals between two reports

constinit std::atomic<int> bell{-1};

void on_signal(int) noexcept {
    const int saved = errno;
    ::eventfd_write(bell.load(std::memory_order_relaxed), one_report);
    errno = saved;
}

void serve(int asked) noexcept {
    for (;;) {
        eventfd_t what = 0;
        if (::eventfd_read(asked, &what) != 0)
            continue; // interrupted
        if (what % the_end != 0)
            write_report(STDERR_FILENO);
        if (what >= the_end)
            return;
    }
}

} // namespace

dump_on_signal::dump_on_signal(int number, std::atomic<unsigned> &helpers) : number_(number) {
    if (number_ == 0)
        return;
    asked_ = ::eventfd(0, EFD_CLOEXEC);
    if (asked_ < 0)
        throw std::system_error(errno, std::generic_category(),
                                "fult: no descriptor for FULT_DUMP_SIGNAL; raise `ulimit -n`");
    sigset_t all, own;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &own); // its thread handles none of the program's signals
    try {
        writer_ = std::thread(serve, asked_);
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
        ::close(asked_);
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
    helpers.fetch_add(1, std::memory_order_relaxed);
    bell.store(asked_, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = [](int n) { on_signal(n); };
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(number_, &action, &before_);
}

dump_on_signal::~dump_on_signal() {
    if (number_ == 0)
        return;
    ::sigaction(number_, &before_, nullptr);
    ::eventfd_write(asked_, the_end);
    writer_.join();
    bell.store(-1, std::memory_order_relaxed); // a handler that still runs writes into nothing
    ::close(asked_);
}

} // namespace fult::detail
