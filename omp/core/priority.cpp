#include "priority.hpp"

#include <algorithm>
#include <mutex>
#include <new>

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

// A frame for the next one of the queue. It is counted nowhere.
void spawn_ticket(frame *parent) {
    auto *const ticket = ::new (place_of_thread()->blocks.take(0)) frame(parent, nullptr, is_ticket, 0);
    submit_slowly(ticket);
}

} // namespace

bool has_priority(const frame *f) noexcept { return f->more && f->more->priority > 0 && priority_of(f) > 0; }

void submit_with_priority(frame *f) {
    task_queue &q = f->parent->in()->by_priority;
    // The parent may end before the ticket does, but the team's caller is there until the region ends.
    frame *const implicit = f->parent->in()->members[0].implicit;
    {
        const std::lock_guard lock(q.lock);
        q.tasks.push_back(f);
        std::push_heap(q.tasks.begin(), q.tasks.end(), runs_later);
        q.count.store(q.tasks.size(), std::memory_order_relaxed);
    }
    spawn_ticket(implicit);
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
        }
    }
    if (next->has(is_ticket)) {
        place_of_thread()->blocks.give(next->block, next);
        return first;
    }
    if (!first)
        return next;
    submit_slowly(next);
    return first;
}

} // namespace fult::omp
