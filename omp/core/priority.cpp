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

int priority_of(const omp_task *f) noexcept {
    return std::min(f->more->priority, icvs_of_program().max_task_priority);
}

bool runs_later(const omp_task *a, const omp_task *b) noexcept { return priority_of(a) < priority_of(b); }

// Runs the next one of the queue: generated beside f, which is not in the queue yet, and counted with it,
// so that parent and team stay until it has run, which may be long after the task.
omp_task *placeholder_beside(const omp_task *f) {
    thread_state *const at = this_thread();
    auto *const placeholder =
        ::new (at->blocks.take(0)) omp_task(f->parent, f->counted_in, is_placeholder, 0);
    count_end(*f->counted_in, -one_task, at);
    return placeholder;
}

void end_placeholder(omp_task *placeholder) noexcept {
    FULT_ASSERT(!placeholder->more && placeholder->base.has_ended(), "a placeholder has no body");
    child_counter &s = *placeholder->counted_in;
    thread_state *const at = this_thread();
    at->blocks.give(placeholder->block, placeholder);
    count_end(s, one_task, at);
}

} // namespace

void submit_with_priority(omp_task *f) {
    FULT_ASSERT(has_priority(f) && !f->has(is_placeholder | is_implicit));
    task_queue &q = f->parent->in()->priority_queue;
    omp_task *const placeholder = placeholder_beside(f);
    {
        const std::lock_guard lock(q.lock);
        q.tasks.push_back(f);
        std::push_heap(q.tasks.begin(), q.tasks.end(), runs_later);
        q.count.store(q.tasks.size(), std::memory_order_relaxed);
    }
    submit_slowly(placeholder);
}

omp_task *take_by_priority(omp_task *next) {
    task_queue &q = next->parent->in()->priority_queue;
    omp_task *first = nullptr;
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
    if (next->has(is_placeholder)) {
        end_placeholder(next);
        return first;
    }
    if (!first)
        return next;
    submit_slowly(next);
    return first;
}

} // namespace fult::omp
