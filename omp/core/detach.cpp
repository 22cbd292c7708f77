#include "detach.hpp"

#include <utility>

#include "depend.hpp"
#include "tasks.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

void complete(omp_task *f, const thread_state *at) noexcept {
    FULT_ASSERT(f->base.mode.load(std::memory_order_relaxed) == wait_mode::zombie, "the body has ended");
    FULT_ASSERT(f->counted_in, "an implicit task has no event");
    delete std::exchange(f->more->event, nullptr);
    if (f->more->node)
        release_successors(f, this_thread());
    count_end(*f->counted_in, one_body, at);
    count_end(f->base, one_tree, nullptr); // the tree that end_body_with_event has held
}

} // namespace

detach_event *make_event(omp_task *f) {
    FULT_ASSERT(!f->more || !f->more->event, "a task has one event");
    return f->attach().event = new detach_event(f);
}

// The descendants may end on this thread by plain stores as long as the task counts; the thread that
// completes it may be elsewhere. So it becomes a zombie here, and holds one tree until it is complete.
void end_body_with_event(omp_task *f) noexcept {
    const thread_state *const at = f->at;
    detach_event *const e = f->more->event;
    become_zombie(f, one_tree);
    if (e->is_second())
        complete(f, at);
}

// It remains until it is fulfilled.
void discard_event(omp_task *f) noexcept {
    detach_event *const e = std::exchange(f->more->event, nullptr);
    e->discard();
    if (e->is_second())
        delete e;
}

void fulfill(detach_event *e) noexcept {
    if (!e->is_second())
        return;
    if (omp_task *const f = e->task())
        complete(f, nullptr);
    else
        delete e;
}

} // namespace fult::omp
