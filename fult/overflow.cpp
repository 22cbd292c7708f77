#include "overflow.hpp"

#include <cstdio>
#include <unistd.h>

#include "task.hpp"
#include "virtual_memory.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

constexpr std::size_t handler_bytes = 64 * 1024;
struct sigaction segv_before, bus_before;

// Only what is safe in a handler: the thread is in the middle of anything. snprintf of integers and strings
// does not allocate.
void report(const worker &w) noexcept {
    const task *t = w.current;
    const stack *s = w.here();
    char text[512];
    const char *name = t && t->extras && !t->extras->name.empty() ? t->extras->name.c_str() : nullptr;
    const int length =
        std::snprintf(text, sizeof text,
                      "fult: task %s%s%s (worker %u, slot %u) overflowed its %zu KiB stack; "
                      "give it more by spawn_options::stack_size, or all tasks by FULT_STACK_SIZE\n",
                      name ? "'" : "", name ? name : "without a name", name ? "'" : "", w.index,
                      t ? slot_of(t) : 0, s->size / 1024);
    if (::write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0)
        return;
}

void on_fault(int number, siginfo_t *info, void *) noexcept {
    const worker *w = this_worker();
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (w && w->here() && w->here()->guards(address))
        report(*w);
    // The instruction faults again, into the action that was there before: another handler, or the end of the
    // program.
    ::sigaction(number, number == SIGSEGV ? &segv_before : &bus_before, nullptr);
}

} // namespace

overflow_reports::overflow_reports() noexcept {
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
