#include "overflow.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <new>
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <fult/detail/address.hpp>

#include "fult/base/check.hpp"
#include "fult/base/symbols.hpp"
#include "fult/base/unwind.hpp"
#include "fult/memory/virtual_memory.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"
#include "task_subject.hpp"

namespace fult::detail {
namespace {

constexpr std::size_t handler_bytes = 128 * 1024;

// What ends a program by its own fault, and what happened on it before.
struct fault {
    int number;
    const char *name;
    struct sigaction previous;
};
constinit fault faults[] = {
    {SIGSEGV, "SIGSEGV", {}}, {SIGBUS, "SIGBUS", {}},   {SIGFPE, "SIGFPE", {}},
    {SIGILL, "SIGILL", {}},   {SIGABRT, "SIGABRT", {}},
};

// Only the first thread that has something to report does.
class report_turn {
  public:
    // False if another thread reports, or has.
    bool take() noexcept {
        pid_t none = 0;
        return thread_.compare_exchange_strong(none, ::gettid(), std::memory_order_relaxed);
    }
    void end() noexcept { is_written_.store(true, std::memory_order_relaxed); }
    // Waits until the report of another thread is written. One that aborts during its own report does not.
    void await() const noexcept {
        while (thread_.load(std::memory_order_relaxed) != ::gettid() &&
               !is_written_.load(std::memory_order_relaxed))
            ::sched_yield();
    }
    void reset() noexcept {
        thread_.store(0, std::memory_order_relaxed);
        is_written_.store(false, std::memory_order_relaxed);
    }

  private:
    std::atomic<pid_t> thread_{0};
    std::atomic<bool> is_written_{false};
};
constinit report_turn turn;

fault &fault_of(int number) noexcept {
    return *std::find_if(std::begin(faults), std::end(faults) - 1,
                         [&](const fault &each) { return each.number == number; });
}
bool ends_program(const struct sigaction &action) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

void say(const char *text, int length) noexcept {
    if (length > 0 && ::write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0)
        return;
}

// One line of a report. Async-signal-safe: the thread may be interrupted anywhere. snprintf of integers and
// strings does not allocate.
class line {
  public:
    line() noexcept { add("fult: "); }
    [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) noexcept {
        std::va_list values;
        va_start(values, format);
        const int more = std::vsnprintf(text_ + length_, sizeof text_ - length_, format, values);
        va_end(values);
        length_ = std::min(length_ + static_cast<std::size_t>(std::max(more, 0)), sizeof text_ - 1);
    }
    // The task, by its name or by what it is for, and where it runs.
    void add_task(const worker &w, const task &t) noexcept;
    void write() const noexcept { say(text_, static_cast<int>(length_)); }

  private:
    char text_[512];
    std::size_t length_ = 0;
};

void line::add_task(const worker &w, const task &t) noexcept {
    const bool main = is_main(&t);
    const task_subject subject = subject_of(&t);
    if (main || (t.extras && !t.extras->name.empty()))
        add("task '%s'", main ? "main" : t.extras->name.c_str());
    else if (subject.kind)
        add("%s", subject.kind);
    else
        add("task without a name");
    // find() looks for the call before a return address.
    symbols names;
    const location at =
        subject.function ? names.find(static_cast<const std::byte *>(subject.function) + 1) : location{};
    if (at.function && *at.function)
        add(" (function %s)", at.function);
    add(" (worker %u, slot %u)", w.index, slot_of(&t));
}

void report_overflow(const worker &w) noexcept {
    const std::size_t kilobytes = w.current_stack()->usable() / 1024;
    line text;
    if (!w.current) {
        text.add("worker %u overflowed its %zu KiB stack outside of any task\n", w.index, kilobytes);
    } else {
        text.add_task(w, *w.current);
        text.add(" overflowed its %zu KiB stack; %s\n", kilobytes,
                 w.current_stack()->kernel_threads
                     ? "raise it with `ulimit -s`, or do the work in a task with a stack_size"
                     : "raise it with spawn_options::stack_size, or for all tasks with FULT_STACK_SIZE");
    }
    text.write();
}

void report_crash(const worker &w, const fault &what, const void *address) noexcept {
    line text;
    text.add_task(w, *w.current);
    if (what.number == SIGABRT)
        text.add(" ends the program by %s\n", what.name);
    else
        text.add(" ends the program by %s, address %p\n", what.name, address);
    text.write();
}

// Prints the innermost and the outermost frames; a recursion has thousands in between.
class frame_report {
  public:
    explicit frame_report(const void *fault) noexcept : fault_(fault) {
        visit();
        if (count_ == 0) { // the walk did not meet it: print all frames, those of the handler included
            fault_ = nullptr;
            visit();
        }
        const std::size_t kept = std::min(count_, last);
        if (printed_ + kept < count_)
            say(text_,
                std::snprintf(text_, sizeof text_, "      ... %zu more ...\n", count_ - printed_ - kept));
        for (std::size_t i = std::max(count_ - kept, printed_); i < count_; ++i)
            print(i, outermost_[i % last]);
    }

  private:
    static constexpr std::size_t first = 16, last = 8;

    void visit() noexcept {
        visit_frames_here([](void *self, void *at) { static_cast<frame_report *>(self)->add(at); }, this);
    }

    void add(void *at) noexcept {
        if (count_ == 0 && fault_ && at != fault_)
            return; // a frame of the handler
        outermost_[count_ % last] = at;
        if (count_ < first)
            print(printed_++, at);
        ++count_;
    }

    void print(std::size_t number, void *at) noexcept {
        const int start = std::snprintf(text_, sizeof text_, "      #%zu ", number);
        const std::size_t length =
            names_.print(at, text_ + start, sizeof text_ - static_cast<std::size_t>(start) - 1, false);
        text_[static_cast<std::size_t>(start) + length] = '\n';
        say(text_, start + static_cast<int>(length) + 1);
    }

    const void *fault_;
    std::size_t count_ = 0, printed_ = 0;
    void *outermost_[last] = {};
    symbols names_;
    char text_[512];
};

void report_frames(const void *fault) noexcept {
    alignas(frame_report) static std::byte interrupt_point[sizeof(frame_report)]; // no destructor to register
    ::new (interrupt_point) frame_report(fault);
}

// The point at which a thread was interrupted.
struct interrupt_point {
    std::uintptr_t stack_pointer;
    const void *instruction;
};
interrupt_point interrupt_point_of(const void *interrupted) noexcept {
    const auto *context = static_cast<const ucontext_t *>(interrupted);
#if defined(__x86_64__)
    return {static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RSP]),
            at_address<const void>(static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]))};
#else
    return {context->uc_mcontext.sp, at_address<const void>(context->uc_mcontext.pc)};
#endif
}

// Below a kernel thread's own stack the system keeps a gap. An overflow is an access near the end of the
// stack by a function whose stack pointer is near it, too.
bool overflows(const stack &s, std::uintptr_t address, std::uintptr_t sp) noexcept {
    if (!s.kernel_threads)
        return s.guards(address);
    constexpr std::uintptr_t near = 64 * 1024, gap = 1024 * 1024;
    const auto end = address_of(s.base);
    const auto close = [&](std::uintptr_t at) { return at + gap >= end && at < end + near; };
    return close(address) && close(sp);
}

// A signal that was sent is not raised again by an instruction. It is sent again, unchanged, to the previous
// action. It is blocked while its handler runs and arrives when the handler returns.
void forward_sent(int number, siginfo_t *info, const struct sigaction &before) noexcept {
    const int saved = errno;
    if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_IGN) {
        ::sigaction(number, &before, nullptr);
        if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), number, info) != 0)
            ::raise(number);
    }
    errno = saved;
}

// abort raises the signal on the calling thread, and so does pthread_kill of another one.
bool is_abort(const siginfo_t &info) noexcept {
    return info.si_signo == SIGABRT && info.si_code == SI_TKILL && info.si_pid == ::getpid();
}

// A failed assert, std::terminate, or the allocator's complaint: they have printed a line that names no task.
void on_abort(const fault &what, const void *instruction) noexcept {
    const worker *w = this_worker();
    if (!w || !w->current || !ends_program(what.previous) || end_is_reported())
        return;
    if (!turn.take())
        return turn.await(); // else this thread would end the program during the report
    report_crash(*w, what, nullptr);
    report_frames(instruction);
    turn.end();
}

void on_fault(int number, siginfo_t *info, void *interrupted) noexcept {
    const fault &what = fault_of(number);
    if (is_abort(*info))
        on_abort(what, interrupt_point_of(interrupted).instruction);
    if (info->si_code <= 0) // SI_USER and the like: sent by kill, raise or sigqueue
        return forward_sent(number, info, what.previous);
    const worker *w = this_worker();
    const interrupt_point at = interrupt_point_of(interrupted);
    const bool is_overflow = w && w->current_stack() && (number == SIGSEGV || number == SIGBUS) &&
                             overflows(*w->current_stack(), address_of(info->si_addr), at.stack_pointer);
    if (is_overflow || (w && w->current && ends_program(what.previous))) {
        if (!turn.take())
            return; // another thread reports: the instruction faults again until the report is written
        if (is_overflow)
            report_overflow(*w);
        else
            report_crash(*w, what, info->si_addr);
        report_frames(at.instruction);
        turn.end();
    }
    // The instruction faults again, with the previous action: another handler, or the end of the program.
    ::sigaction(number, &what.previous, nullptr);
}

} // namespace

fault_reports::fault_reports() noexcept {
    turn.reset();
    struct sigaction action {};
    action.sa_sigaction = [](int n, siginfo_t *info, void *context) { on_fault(n, info, context); };
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (fault &each : faults)
        ::sigaction(each.number, &action, &each.previous);
}

fault_reports::~fault_reports() {
    for (const fault &each : faults)
        ::sigaction(each.number, &each.previous, nullptr);
}

signal_stack::signal_stack() noexcept {
    memory_ = map_pages(handler_bytes);
    if (!memory_)
        return; // an overflow then ends the program without a report
    const stack_t now{memory_, 0, handler_bytes};
    ::sigaltstack(&now, &previous_);
}

signal_stack::~signal_stack() {
    if (!memory_)
        return;
    ::sigaltstack(&previous_, nullptr);
    unmap_pages(memory_, handler_bytes);
}

} // namespace fult::detail
