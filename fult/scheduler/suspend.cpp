#include "suspend.hpp"

#include <fult/detail/address.hpp>
#include <fult/detail/running_stack.hpp>
#include <fult/detail/service.hpp>
#include <fult/this_task.hpp>

#include "fult/base/check.hpp"
#include "fult/base/held_locks.hpp"
#include "processors.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {
namespace {

// Polls for a signal before a switch to the scheduler context: about two microseconds.
constexpr unsigned watch_steps = 400;

// The same for a poller, which checks the condition several times per step.
constexpr unsigned poll_steps = 40;

worker *here(const char *call) noexcept {
    worker *w = this_worker();
    if (!w || !w->current) [[unlikely]]
        fatal(call, "called on a thread that runs no task; start a fult::runtime, and call it from a task");
    return w;
}

} // namespace

void suspend_until_signaled(bool patient) noexcept {
    worker *w = here("this_task::wait");
    check_no_spinlock("this_task::wait");
    task *self = w->current;
    if (w->consume_signal(self))
        return w->count_turn();
    task *next = w->pick(false);
    if (!next && patient) {
        bool signaled = false;
        w->idle.begin_polling();
        for (unsigned i = 0; i < watch_steps && !next && !signaled; ++i) {
            signaled = w->consume_signal(self);
            if (!signaled && w->has_work())
                next = w->pick(false);
        }
        w->idle.end_polling(*w);
        if (signaled)
            return;
    }
    if (next == self) // impossible: a running task is busy, its bit becomes a pending wake-up
        fatal("this_task::wait", "a running task was claimed");
    w->switch_from(self, switch_reason::suspend, next);
}

poller::poller() noexcept : worker_(here("this_task::wait")), left_(poll_steps + 1) {}

poller::~poller() {
    if (left_ > poll_steps)
        return;
    auto *w = static_cast<worker *>(worker_); // never nullptr: here() ends the program if there is no worker
    if (w == this_worker())
        w->idle.end_polling(*w);
    else if (w)
        w->idle.end_polling_elsewhere(); // at worst a signaler wakes a worker without need
}

// Checks this worker's own lines first. The public words come later: a signaler's OR takes their line away,
// and the next signaler finds it in its own cache if no other thread has read it in between.
bool poller::step() noexcept {
    worker *w = this_worker();
    if (w != worker_) // the condition has suspended: do not touch another worker's words
        return false;
    if (left_ > poll_steps) {
        if (w->has_own_work())
            return false;
        if (w->decisions.count_poll()) [[unlikely]] {
            w->take_turn(); // other tasks may wait for this worker's decision, too
            return false;
        }
        left_ = poll_steps;
        w->idle.begin_polling();
        return true;
    }
    w->consume_signal(w->current); // the condition is checked once more before any suspension
    if (left_ == 0 || w->has_work())
        return false;
    --left_;
    if (shares_processors() && yields_for_long()) [[unlikely]]
        left_ = 0; // the condition is checked once more
    return true;
}

bool let_others_run() noexcept {
    worker *w = this_worker();
    if (!w || !w->current)
        return false;
    check_no_spinlock("a call that lets others run");
    task *const self = w->current;
    task *const next = w->pick(true);
    if (next)
        w->switch_from(self, switch_reason::yield, next);
    return next != nullptr;
}

} // namespace detail

namespace this_task {

void yield() noexcept {
    detail::worker *w = detail::here("this_task::yield");
    detail::check_no_spinlock("this_task::yield");
    detail::task *self = w->current;
    if (detail::task *next = w->pick(true))
        w->switch_from(self, detail::switch_reason::yield, next);
    else
        detail::yield_if_processors_shared(); // the loop may poll for an event of another process
}

void wait() noexcept { detail::suspend_until_signaled(true); }

task_id id() noexcept { return detail::to_id(detail::here("this_task::id")->current); }

int worker() noexcept { return static_cast<int>(detail::here("this_task::worker")->index); }

stack_bounds stack() noexcept {
    const detail::stack &on = *detail::here("this_task::stack")->current_stack();
    return {on.low(), on.usable(), on.guard};
}

std::string_view name() noexcept {
    const detail::task *self = detail::here("this_task::name")->current;
    return self->extras ? std::string_view(self->extras->name) : std::string_view();
}

} // namespace this_task

// By the address of a frame: a signal handler may have a stack of its own.
bool detail::runs_on_own_stack(stack_bounds &bounds) noexcept {
    const worker *const w = this_worker();
    const auto frame = address_of(__builtin_frame_address(0));
    if (!w || !w->current_stack() || w->current_stack()->kernel_threads)
        return false;
    const stack &on = *w->current_stack();
    if (frame < address_of(on.low()) || frame >= address_of(on.high()))
        return false;
    bounds = {on.low(), on.usable(), on.guard};
    return true;
}

bool in_task() noexcept {
    const detail::worker *w = detail::this_worker();
    return w && w->current;
}

} // namespace fult
