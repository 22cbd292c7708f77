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

constexpr eventfd_t one_report = 1;
constexpr eventfd_t the_end = 1u << 30; // above the number of signals between two reports

constinit shared_bell dump_bell;           // its count: reports that are wanted
constinit std::atomic<int> left_behind{0}; // the signal whose handler the last runtime has left installed

void on_signal(int) noexcept {
    constexpr std::string_view none = "fult: no runtime is running: there is no task to report\n";
    const int saved = errno;
    if (!dump_bell.ring(one_report) && ::write(STDERR_FILENO, none.data(), none.size()) < 0)
        errno = saved; // standard error is closed
    errno = saved;
}

void handle(int number, struct sigaction *before) noexcept {
    struct sigaction action {};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, before);
}

bool is(const struct sigaction &action, void (*handler)(int)) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

// The signal would end a program that is about to start its runtime. So it is handled from the load of the
// library on, if the variable is set and the program has no handler.
__attribute__((constructor)) void handle_from_the_start() noexcept {
    const int number = dump_signal_in_environment();
    struct sigaction now {};
    if (number != 0 && ::sigaction(number, nullptr, &now) == 0 && is(now, SIG_DFL))
        handle(number, nullptr);
}

// A runtime that uses another signal, or none, removes the handler that the previous one left installed.
void take_down_what_was_left(int wanted) noexcept {
    const int number = left_behind.exchange(0, std::memory_order_relaxed);
    if (number != 0 && number != wanted && number != dump_signal_in_environment() && is_dump_signal(number))
        ::signal(number, SIG_DFL);
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

bool is_dump_signal(int number) noexcept {
    struct sigaction now {};
    return ::sigaction(number, nullptr, &now) == 0 && is(now, &on_signal);
}

dump_on_signal::dump_on_signal(int number, std::atomic<unsigned> &helpers) : number_(number) {
    take_down_what_was_left(number);
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
    handle(number_, &before_);
}

dump_on_signal::~dump_on_signal() {
    if (number_ == 0)
        return;
    if (is(before_, SIG_DFL) ||
        is(before_, &on_signal)) // stays installed: a late signal must not end the program
        left_behind.store(number_, std::memory_order_relaxed);
    else
        ::sigaction(number_, &before_, nullptr);
    dump_bell.ring(the_end); // a handler that is still running rings once more, or too late
    writer_.join();
    dump_bell.close();
}

void forget_dump_signal() noexcept { dump_bell.forget(); }

} // namespace fult::detail
