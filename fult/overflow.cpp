#include "overflow.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbols.hpp"
#include "task.hpp"
#include "unwind.hpp"
#include "virtual_memory.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

constexpr std::size_t handler_bytes = 128 * 1024;
struct sigaction segv_before, bus_before;
constinit std::atomic<bool> reporting{false};

void say(const char *text, int length) noexcept {
    if (length > 0 && ::write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0)
        return;
}

// Only what is safe in a handler: the thread is in the middle of anything. snprintf of integers and strings
// does not allocate.
void report(const worker &w) noexcept {
    const task *t = w.current;
    const stack *s = w.here();
    char text[512];
    if (!t) {
        say(text, std::snprintf(text, sizeof text,
                                "fult: worker %u overflowed its %zu KiB stack outside of any task\n", w.index,
                                s->size / 1024));
        return;
    }
    const bool main = s->kernel_threads;
    const char *name = main                                    ? "main"
                       : t->extras && !t->extras->name.empty() ? t->extras->name.c_str()
                                                               : nullptr;
    say(text,
        std::snprintf(text, sizeof text,
                      "fult: task %s%s%s (worker %u, slot %u) overflowed its %zu KiB stack; %s\n",
                      name ? "'" : "", name ? name : "without a name", name ? "'" : "", w.index, slot_of(t),
                      s->size / 1024,
                      main ? "give it more by `ulimit -s`, or let a task with a stack_size do its work"
                           : "give it more by spawn_options::stack_size, or all tasks by FULT_STACK_SIZE"));
}

// The innermost frames and the outermost ones; a recursion has thousands between.
class frame_report {
  public:
    explicit frame_report(const void *fault) noexcept : fault_(fault) {
        visit();
        if (count_ == 0) { // the walk met it nowhere: then all frames, the handler's too
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
            return; // the handler's own
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
    alignas(frame_report) static std::byte place[sizeof(frame_report)]; // no destructor to be registered
    ::new (place) frame_report(fault);
}

// Where a thread was interrupted.
struct place {
    std::uintptr_t stack_pointer;
    const void *instruction;
};
place place_of(const void *interrupted) noexcept {
    const auto *context = static_cast<const ucontext_t *>(interrupted);
#if defined(__x86_64__)
    return {static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RSP]),
            reinterpret_cast<const void *>(context->uc_mcontext.gregs[REG_RIP])};
#else
    return {context->uc_mcontext.sp, reinterpret_cast<const void *>(context->uc_mcontext.pc)};
#endif
}

// Below the kernel threads' own stacks the system keeps a gap of some size: an access near the stack's end by
// a function whose stack pointer is there, too.
bool overflows(const stack &s, std::uintptr_t address, std::uintptr_t sp) noexcept {
    if (!s.kernel_threads)
        return s.guards(address);
    constexpr std::uintptr_t near = 64 * 1024, gap = 1024 * 1024;
    const auto end = reinterpret_cast<std::uintptr_t>(s.base);
    const auto close = [&](std::uintptr_t at) { return at + gap >= end && at < end + near; };
    return close(address) && close(sp);
}

// A signal that somebody sent is not repeated by an instruction: it is sent again, as it was, to the action
// that was there before. It is blocked while its handler runs, and arrives when that returns.
void pass_on_sent(int number, siginfo_t *info, const struct sigaction &before) noexcept {
    const int saved = errno;
    if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_IGN) {
        ::sigaction(number, &before, nullptr);
        if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), number, info) != 0)
            ::raise(number);
    }
    errno = saved;
}

void on_fault(int number, siginfo_t *info, void *interrupted) noexcept {
    const struct sigaction &before = number == SIGSEGV ? segv_before : bus_before;
    if (info->si_code <= 0) // SI_USER and the like: by kill, raise or sigqueue
        return pass_on_sent(number, info, before);
    const worker *w = this_worker();
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const place at = place_of(interrupted);
    if (w && w->here() && overflows(*w->here(), address, at.stack_pointer)) {
        if (reporting.exchange(true, std::memory_order_relaxed))
            return; // another thread has come first: the instruction faults again until that one is done
        report(*w);
        report_frames(at.instruction);
    }
    // The instruction faults again, into the action that was there before: another handler, or the end of the
    // program.
    ::sigaction(number, &before, nullptr);
}

} // namespace

overflow_reports::overflow_reports() noexcept {
    reporting.store(false, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_sigaction = [](int n, siginfo_t *info, void *context) { on_fault(n, info, context); };
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &segv_before);
    ::sigaction(SIGBUS, &action, &bus_before);
}

overflow_reports::~overflow_reports() {
    ::sigaction(SIGSEGV, &segv_before, nullptr);
    ::sigaction(SIGBUS, &bus_before, nullptr);
}

signal_stack::signal_stack() noexcept {
    memory_ = map_pages(handler_bytes);
    if (!memory_)
        return; // an overflow ends the program without its report
    const stack_t now{memory_, 0, handler_bytes};
    ::sigaltstack(&now, &before_);
}

signal_stack::~signal_stack() {
    if (!memory_)
        return;
    ::sigaltstack(&before_, nullptr);
    unmap_pages(memory_, handler_bytes);
}

} // namespace fult::detail
