#include "dump_signal.hpp"

#include <cerrno>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dump.hpp"
#include "fult/base/no_descriptor.hpp"
#include "fult/base/option_table.hpp"
#include "fult/base/shared_bell.hpp"

namespace fult::detail {
namespace {

constexpr eventfd_t report_request = 1;
constexpr eventfd_t end_request = 1u << 30; // above the number of signals between two reports

constinit shared_bell dump_bell;            // its count: reports that are wanted
constinit std::atomic<int> stale_signal{0}; // the signal whose handler the last runtime has left installed

void on_signal(int) noexcept {
    constexpr std::string_view none = "fult: no runtime is running: there is no task to report\n";
    const int saved = errno;
    if (!dump_bell.ring(report_request) && ::write(STDERR_FILENO, none.data(), none.size()) < 0)
        errno = saved; // standard error is closed
    errno = saved;
}

void install_handler(int number, struct sigaction *before) noexcept {
    struct sigaction action {};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, before);
}

bool has_handler(const struct sigaction &action, void (*handler)(int)) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

// The signal would end a program that is about to start its runtime. So it is handled from the load of the
// library on, if the variable is set and the program has no handler.
__attribute__((constructor)) void install_at_load() noexcept {
    const int number = dump_signal_in_environment();
    struct sigaction now {};
    if (number != 0 && ::sigaction(number, nullptr, &now) == 0 && has_handler(now, SIG_DFL))
        install_handler(number, nullptr);
}

// A runtime that uses another signal, or none, removes the handler that the previous one left installed.
void remove_stale_handler(int wanted) noexcept {
    const int number = stale_signal.exchange(0, std::memory_order_relaxed);
    if (number != 0 && number != wanted && number != dump_signal_in_environment() && is_dump_signal(number))
        ::signal(number, SIG_DFL);
}

void serve(int asked) noexcept {
    for (;;) {
        eventfd_t what = 0;
        if (::eventfd_read(asked, &what) != 0)
            continue; // interrupted
        if (what % end_request != 0)
            write_report(STDERR_FILENO);
        if (what >= end_request)
            return;
    }
}

} // namespace

bool is_dump_signal(int number) noexcept {
    struct sigaction now {};
    return ::sigaction(number, nullptr, &now) == 0 && has_handler(now, &on_signal);
}

dump_on_signal::dump_on_signal(int number, std::atomic<unsigned> &helpers) : number_(number) {
    remove_stale_handler(number);
    if (number_ == 0)
        return;
    if (!dump_bell.open(EFD_CLOEXEC))
        throw_no_descriptor(errno, "fult: no descriptor for FULT_DUMP_SIGNAL", "eventfd2");
    sigset_t all, own;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &own); // its thread handles no signals of the program
    try {
        writer_ = std::thread(serve, dump_bell.descriptor());
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
        dump_bell.close();
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
    helpers.fetch_add(1, std::memory_order_relaxed);
    install_handler(number_, &previous_);
}

dump_on_signal::~dump_on_signal() {
    if (number_ == 0)
        return;
    if (has_handler(previous_, SIG_DFL) ||
        has_handler(previous_, &on_signal)) // stays installed: a late signal must not end the program
        stale_signal.store(number_, std::memory_order_relaxed);
    else
        ::sigaction(number_, &previous_, nullptr);
    dump_bell.ring(end_request); // a handler that is still running rings once more, or too late
    writer_.join();
    dump_bell.close();
}

void forget_dump_signal() noexcept { dump_bell.forget(); }

} // namespace fult::detail
