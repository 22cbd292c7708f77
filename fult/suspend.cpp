#include "suspend.hpp"

#include <fult/detail/service.hpp>
#include <fult/this_task.hpp>

#include "check.hpp"
#include "held_locks.hpp"
#include "processors.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {
namespace {

// Steps of watching for a signal before a switch to the worker's own context: about two microseconds.
constexpr unsigned watch_steps = 400;

// The same for a poller, which looks at the condition several times a step.
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
    if (w->took_signal(self))
        return w->count_turn();
    task *next = w->pick(false);
    if (!next && patient) {
        bool signaled = false;
        w->looking.store(1, std::memory_order_relaxed);
        for (unsigned i = 0; i < watch_steps && !next && !signaled; ++i) {
            signaled = w->took_signal(self);
            if (!signaled && w->has_work())
                next = w->pick(false);
        }
        w->stop_looking();
        if (signaled)
            return;
    }
    if (next == self) // cannot be: a running task is busy, its bit becomes its token
        fatal("this_task::wait", "a running task was claimed");
    w->switch_from(self, leave::park, next);
}

poller::poller() noexcept : worker_(here("this_task::wait")), left_(poll_steps + 1) {}

poller::~poller() {
    if (left_ > poll_steps)
        return;
    auto *w = static_cast<worker *>(worker_); // never null: here() ends the program where there is no worker
    if (w == this_worker())
        this_worker()->stop_looking();
    else if (w)
        w->looking.store(0, std::memory_order_seq_cst); // at worst a signaler wakes somebody for nothing
}

// Looks at this worker's own lines first. The words come later: a signaler's OR takes their line away, and
// the next one finds it in its own cache if nobody has asked for it meanwhile.
bool poller::step() noexcept {
    worker *w = this_worker();
    if (w != worker_) // the condition has suspended: another worker's words are not ours to touch
        return false;
    if (left_ > poll_steps) {
        if (w->has_own_work())
            return false;
        if (w->polled_for_long()) [[unlikely]] {
            w->take_turn(); // others, too, may wait for this worker to look
            return false;
        }
        left_ = poll_steps;
        w->looking.store(1, std::memory_order_relaxed);
        return true;
    }
    w->took_signal(w->current); // the condition is looked at once more before any suspension
    if (left_ == 0 || w->has_work())
        return false;
    --left_;
    if (shares_processors()) [[unlikely]]
        ::sched_yield();
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
        w->switch_from(self, leave::yield, next);
    return next != nullptr;
}

} // namespace detail

namespace this_task {

void yield() noexcept {
    detail::worker *w = detail::here("this_task::yield");
    detail::check_no_spinlock("this_task::yield");
    detail::task *self = w->current;
    if (detail::shares_processors()) [[unlikely]] // the loop may poll for what another process does
        detail::looked_in_vain();
    if (detail::task *next = w->pick(true))
        w->switch_from(self, detail::leave::yield, next);
}

void wait() noexcept { detail::suspend_until_signaled(true); }

task_id id() noexcept { return detail::to_id(detail::here("this_task::id")->current); }

unsigned worker() noexcept { return detail::here("this_task::worker")->index; }

std::string_view name() noexcept {
    const detail::task *self = detail::here("this_task::name")->current;
    return self->extras ? std::string_view(self->extras->name) : std::string_view();
}

} // namespace this_task

bool in_task() noexcept {
    const detail::worker *w = detail::this_worker();
    return w && w->current;
}

} // namespace fult
