// The contexts of a worker: the stacks on which tasks start, the cache of idle ones, and the scheduler
// context.
#include "switch.hpp"

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <unistd.h>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "fult/base/check.hpp"
#include "fult/base/sanitizer.hpp"
#include "fult/tasks/task.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// Contexts begin at different distances from the end of their page: otherwise all would fall into the same
// cache sets.
std::byte *colored_top(const stack *s) noexcept {
    const auto number = address_of(s->base) / s->size;
    return const_cast<std::byte *>(reinterpret_cast<const std::byte *>(s)) - number % 32 * cache_line;
}

} // namespace

// Runs the tasks that start on a stack, one after the other. Switches to a task that has a context, or to the
// scheduler context; then the stack is idle. Returns when a task is to start on it, possibly by another
// worker.
worker *worker::run_incoming() noexcept {
    worker *w = this;
    *w->exceptions_ = {nullptr, 0};
    task *next = std::exchange(w->incoming_, nullptr);
    FULT_ASSERT(next, "a stack is entered to start a task");
    do {
        run_task(next);
        w = static_cast<worker *>(current_worker());
        w->current_stack_->pinned = false;
        next = w->pick(false);
    } while (next && !next->context && w->fits_here(next));
    stack *mine = w->current_stack_;
    return next ? w->resume(next, switch_word::of_idle(mine))
                : w->switch_to_scheduler(switch_word::of_idle(mine));
}

void worker::stack_main(jump_result in) noexcept {
    worker *w = finish_switch(in, nullptr);
    for (;;)
        w = w->run_incoming();
}

void worker::run_task(task *t) noexcept {
    worker *w = static_cast<worker *>(current_worker());
    FULT_ASSERT(t->state.load(std::memory_order_relaxed) == busy && !t->context, "a task starts once");
    FULT_ASSERT(!t->pinned || home_of(t) == w);
    w->current_stack_->pinned = t->pinned;
    t->outer = {};
    run_as(w, t);
    if (w->team.opts.fp_env == fp_mode::own) [[unlikely]]
        std::fesetenv(&w->team.fp_at_start);
    t->ops->run(*t);
    if (t->extras) [[unlikely]]
        end_locals(*t->extras);
    run_as(current_worker(), nullptr);
    complete(t);
}

namespace {
bool has_room_for(const stack &s, const task *t) noexcept {
    return !t->extras || t->extras->stack_size <= s.usable();
}
} // namespace

bool worker::belongs_on_thread_stack(const task *t) const noexcept {
    return t->pinned && thread_stack_.idle && has_room_for(thread_stack_, t);
}

// Only pinned tasks start on the thread's own stack, and there first.
bool worker::fits_here(const task *t) const noexcept {
    if (t->pinned ? belongs_on_thread_stack(t) : current_stack_ == &thread_stack_) [[unlikely]]
        return false;
    return has_room_for(*current_stack_, t);
}

// The worker's own contexts -----------------------------------------------------------------------------------------------------

void worker::serve() noexcept {
    switch_to_scheduler(switch_word::of_idle(&thread_stack_));
    while (incoming_)
        run_incoming();
}

void worker::scheduler_main(jump_result in) noexcept {
    worker *w = finish_switch(in, nullptr);
    while (task *t = w->find_task())
        w->resume(t, switch_word::of_scheduler());
    stack &threads = w->thread_stack_;
    if (!threads.idle) // not reached: stop() is called by the main task, when all others have ended
        fatal("worker", "a worker ended before the task on its thread's stack");
    w->jump_to(std::exchange(threads.idle, nullptr), &threads, threads.limit, switch_word::of_scheduler());
}

bool worker::open_stacks() noexcept {
    constexpr std::size_t usual = 1020 * 1024; // for services and signal handlers; an odd number of pages
    if (!stacks_.open())
        return false;
    scheduler_stack_ = team.stacks.acquire_sized(usual);
    if (!scheduler_stack_)
        return false;
    scheduler_context_ =
        make_context<&scheduler_main>(colored_top(scheduler_stack_), scheduler_stack_->size / 2);
    return true;
}

void worker::adopt_main(task *main) noexcept {
    FULT_ASSERT(index == 0 && main->pinned && !current);
    thread_stack_.pinned = true;
    stack_limit = inline_limit_ = thread_stack_.limit;
    run_as(this, main);
}

// If no stack can be allocated, the task becomes claimable again and the worker switches to its scheduler
// context.
worker *worker::start(task *next, switch_word word) noexcept {
    FULT_ASSERT(!incoming_, "one task starts at a time");
    stack *fresh = belongs_on_thread_stack(next) ? &thread_stack_ : stacks_.take(next);
    if (!fresh) {
        put_back(next);
        if (current_stack_ != scheduler_stack_)
            return switch_to_scheduler(word);
        ::usleep(1000); // other tasks may end and free stacks; nothing else can be done
        return this;
    }
    if (!fresh->idle)
        fresh->idle = make_context<&stack_main>(colored_top(fresh), fresh->size / 2);
    incoming_ = next;
    return jump_to(std::exchange(fresh->idle, nullptr), fresh, fresh->limit, word);
}

// Makes a claimed task that cannot start now claimable again.
void worker::put_back(task *t) noexcept {
    FULT_ASSERT(!t->context, "only a task that needs a new stack is put back");
    auto *home = static_cast<worker *>(home_of(t));
    home->tasks.make_claimable(t, t->pinned);
}

// Idle stacks -------------------------------------------------------------------------------------------------------------------

bool stack_cache::open() noexcept {
    first_ = team_.stacks.acquire(1);
    count_ = first_ ? 1 : 0;
    return first_ != nullptr;
}

stack *stack_cache::take_from_pool(const task *t) noexcept {
    stack *s = nullptr;
    if (t->extras && t->extras->stack_size > team_.stacks.ordinary_size()) {
        s = team_.stacks.acquire_sized(t->extras->stack_size);
    } else if (first_) {
        return pop();
    } else if ((s = team_.stacks.acquire_some())) {
        first_ = s->next;
        for (const stack *each = first_; each; each = each->next)
            ++count_;
    }
    if (!s) {
        team_.short_of_stacks.store(true, std::memory_order_relaxed);
        return nullptr;
    }
    team_.short_of_stacks.store(false, std::memory_order_relaxed);
    return s;
}

void stack_cache::give(stack *s) noexcept {
    FULT_ASSERT(s->idle, "a stack is idle before it is given back");
    constexpr unsigned few = 64;
    if (s->kernel_threads)
        return; // it stays with its worker
    if (!team_.stacks.is_ordinary(*s)) {
        team_.stacks.release_sized(s);
        return;
    }
    if (team_.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        team_.short_of_stacks.store(false, std::memory_order_relaxed); // try unstarted tasks again
    s->next = first_;
    first_ = s;
    if (++count_ <= few)
        return;
    stack *chain = first_; // keep the hottest half
    for (unsigned i = 1; i < few / 2; ++i)
        chain = chain->next;
    team_.stacks.release(std::exchange(chain->next, nullptr));
    count_ = few / 2;
}

void stack_cache::trim() noexcept {
    FULT_ASSERT((first_ != nullptr) == (count_ != 0));
    if (first_) {
        team_.stacks.release(std::exchange(first_, nullptr));
        count_ = 0;
    }
}

} // namespace fult::detail
