// The contexts of a worker: the stacks that tasks start on, and its own.
#include "switch.hpp"

#include <cerrno>
#include <cfenv>
#include <unistd.h>
#include <utility>

#include <fult/detail/fast_path.hpp>

#include "check.hpp"
#include "completion.hpp"
#include "locals.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// Contexts begin at different distances from the end of their page, or all would fall into the same cache
// sets.
std::byte *colored_top(const stack *s) noexcept {
    const auto number = reinterpret_cast<std::uintptr_t>(s->base) / s->size;
    return const_cast<std::byte *>(reinterpret_cast<const std::byte *>(s)) - number % 32 * cache_line;
}

} // namespace

// A stack's life: tasks that start here, one after the other. It leaves for a task that has a context, or for
// the worker's own, and is idle until a task is to start on it.
void worker::stack_main(boost::context::detail::transfer_t in) noexcept {
    worker *w = arrive(to_arrival(in), nullptr);
    for (;;) {
        *w->exceptions_ = {nullptr, 0};
        task *next = std::exchange(w->incoming_, nullptr);
        do {
            run_task(next);
            w = static_cast<worker *>(current_worker());
            w->here_->pinned = false;
            next = w->pick(false);
        } while (next && !next->context && w->fits_here(next));
        stack *mine = w->here_;
        w = next ? w->resume(next, encode(leave::idle, mine)) : w->go_to_base(encode(leave::idle, mine));
    }
}

void worker::run_task(task *t) noexcept {
    worker *w = static_cast<worker *>(current_worker());
    w->here_->pinned = t->pinned;
    t->outer = nullptr;
    run_as(w, t);
    if (w->crew.opts.fp_env == fp_mode::own) [[unlikely]]
        std::fesetenv(&w->crew.fp_at_start);
    t->ops->run(*t);
    if (t->extras) [[unlikely]]
        end_locals(*t->extras);
    run_as(current_worker(), nullptr);
    complete(t);
}

bool worker::fits_here(const task *t) const noexcept {
    return !t->extras || t->extras->stack_size == 0 || t->extras->stack_size <= here_->size;
}

// The worker's own context ------------------------------------------------------------------------------------------------------

void worker::serve() {
    while (task *t = find())
        resume(t, encode(leave::base, nullptr));
}

void worker::base_main(boost::context::detail::transfer_t in) noexcept {
    worker *w = arrive(to_arrival(in), nullptr);
    w->serve();
    fatal(
        "worker",
        "the main task's worker ended before the main task"); // not reached: stop() leaves from the main task
}

bool worker::open_stacks(bool with_base) noexcept {
    stacks_ = crew.stacks.acquire(1);
    stack_count_ = 1;
    if (!stacks_ || !with_base)
        return stacks_ != nullptr;
    base_pooled_ = crew.stacks.acquire(1);
    if (!base_pooled_)
        return false;
    base_ = make_context(colored_top(base_pooled_), base_pooled_->size / 2, &base_main);
    return true;
}

void worker::adopt_main(task *main, stack *its_stack) noexcept {
    its_stack->base = base_stack_.base;
    its_stack->size = base_stack_.size;
    its_stack->fiber = base_stack_.fiber;
    its_stack->pinned = true;
    its_stack->kernel_threads = true;
    // The kernel grows the first thread's stack on demand; 8 MiB below here are its usual room, whatever the
    // limit says.
    constexpr std::uintptr_t room = 8u << 20;
    const std::uintptr_t top = reinterpret_cast<std::uintptr_t>(its_stack->base) + its_stack->size;
    const std::uintptr_t low =
        its_stack->size > room ? top - room : reinterpret_cast<std::uintptr_t>(its_stack->base);
    its_stack->limit = crew.opts.fp_env == fp_mode::own ? never_inline : inline_limit(low, top);
    here_ = its_stack;
    stack_limit = floor_ = its_stack->limit;
    run_as(this, main);
}

// Where no stack can be had the task is put back and the worker's own context goes on.
worker *worker::start(task *next, std::uintptr_t word) noexcept {
    stack *fresh = take_stack(next);
    if (!fresh) {
        put_back(next);
        if (here_ != &base_stack_ && here_ != base_pooled_)
            return go_to_base(word);
        ::usleep(1000); // others may end and give their stacks back meanwhile; nothing else can be done
        return this;
    }
    if (!fresh->idle)
        fresh->idle = make_context(colored_top(fresh), fresh->size / 2, &stack_main);
    incoming_ = next;
    return jump_to(fresh->idle, fresh, fresh->limit, word);
}

// Stacks ------------------------------------------------------------------------------------------------------------------------

// While stacks are short, tasks that have one come first. These may wait for others that have none, and never
// end: so the system is asked again now and then. False: none can be had.
bool team::ends_shortage() noexcept {
    stack *s = stacks.acquire(1);
    if (!s)
        return false;
    stacks.release(s);
    short_of_stacks.store(false, std::memory_order_relaxed);
    return true;
}

stack *worker::take_stack(const task *t) noexcept {
    constexpr std::size_t batch = 8;
    stack *s = nullptr;
    if (t->extras && t->extras->stack_size > crew.stacks.ordinary_size()) {
        s = crew.stacks.acquire_sized(t->extras->stack_size);
    } else if ((s = stacks_)) {
        stacks_ = s->next;
        --stack_count_;
        return s;
    } else if ((s = crew.stacks.acquire(batch))) {
        stacks_ = s->next;
        for (const stack *each = stacks_; each; each = each->next)
            ++stack_count_;
    }
    if (!s) {
        crew.short_of_stacks.store(true, std::memory_order_relaxed);
        return nullptr;
    }
    crew.short_of_stacks.store(false, std::memory_order_relaxed);
    return s;
}

void worker::give_stack(stack *s) noexcept {
    constexpr unsigned few = 64;
    if (s->size != crew.stacks.ordinary_size()) {
        crew.stacks.release_sized(s);
        return;
    }
    if (crew.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        crew.short_of_stacks.store(false, std::memory_order_relaxed); // unstarted tasks are worth a try again
    s->next = stacks_;
    stacks_ = s;
    if (++stack_count_ <= few)
        return;
    stack *chain = stacks_; // half of them, the hottest, stay
    for (unsigned i = 1; i < few / 2; ++i)
        chain = chain->next;
    crew.stacks.release(std::exchange(chain->next, nullptr));
    stack_count_ = few / 2;
}

// A task that was claimed and cannot start now.
void worker::put_back(task *t) noexcept {
    auto *home = static_cast<worker *>(home_of(t));
    home->tasks.show(t, t->pinned);
}

} // namespace fult::detail
