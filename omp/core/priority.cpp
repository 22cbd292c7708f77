#include "priority.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include <fult/detail/assertion.hpp>

#include "icv.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

int priority_of(const frame *f) noexcept {
    return std::min(f->more->priority, icvs_of_program().max_task_priority);
}

bool runs_later(const frame *a, const frame *b) noexcept { return priority_of(a) < priority_of(b); }

// A frame for the next one of the queue, beside f, which is not in the queue yet: counted in the same scope,
// so that parent and team stay until the ticket has run, which may be long after the task.
frame *ticket_beside(const frame *f) {
    thread_state *const at = this_thread();
    auto *const ticket = ::new (at->blocks.take(0)) frame(f->parent, f->counted_in, is_ticket, 0);
    count_end(*f->counted_in, -one_task, at);
    return ticket;
}

void end_ticket(frame *ticket) noexcept {
    FULT_ASSERT(!ticket->more && ticket->base.has_ended(), "a ticket has no body");
    scope &s = *ticket->counted_in;
    thread_state *const at = this_thread();
    at->blocks.give(ticket->block, ticket);
    count_end(s, one_task, at);
}

} // namespace

void submit_with_priority(frame *f) {
    FULT_ASSERT(has_priority(f) && !f->has(is_ticket | is_implicit));
    task_queue &q = f->parent->in()->by_priority;
    frame *const ticket = ticket_beside(f);
    {
        const std::lock_guard lock(q.lock);
        q.tasks.push_back(f);
        std::push_heap(q.tasks.begin(), q.tasks.end(), runs_later);
        q.count.store(q.tasks.size(), std::memory_order_relaxed);
    }
    submit_slowly(ticket);
}

frame *by_priority(frame *next) {
    task_queue &q = next->parent->in()->by_priority;
    frame *first = nullptr;
    if (q.count.load(std::memory_order_relaxed) != 0) {
        const std::lock_guard lock(q.lock);
        if (!q.tasks.empty()) {
            std::pop_heap(q.tasks.begin(), q.tasks.end(), runs_later);
            first = q.tasks.back();
            q.tasks.pop_back();
            q.count.store(q.tasks.size(), std::memory_order_relaxed);
            FULT_ASSERT(q.tasks.empty() || !runs_later(first, q.tasks.front()), "the highest priority first");
            FULT_ASSERT(first->parent->in() == next->parent->in(), "a team has a queue of its own");
        }
    }
    if (next->has(is_ticket)) {
        end_ticket(next);
        return first;
    }
    if (!first)
        return next;
    submit_slowly(next);
    return first;
}

} // namespace fult::omp
