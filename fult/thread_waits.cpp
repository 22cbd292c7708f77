#include "thread_waits.hpp"

#include "team.hpp"

namespace fult::detail {

constinit thread_waits waiting_threads;

// A thread is in the list before it looks whether somebody polls; a poller leaves off before it looks at the
// list.
void thread_waits::add(thread_wait &w) noexcept {
    lock_.lock();
    w.previous_ = nullptr;
    w.next_ = first_;
    if (first_)
        first_->previous_ = &w;
    first_ = &w;
    lock_.unlock();
    count_.fetch_add(1, std::memory_order_seq_cst); // pairs with any
}

void thread_waits::remove(thread_wait &w) noexcept {
    lock_.lock();
    (w.previous_ ? w.previous_->next_ : first_) = w.next_;
    if (w.next_)
        w.next_->previous_ = w.previous_;
    lock_.unlock();
    count_.fetch_sub(1, std::memory_order_relaxed);
}

bool thread_waits::rouse_one() noexcept {
    lock_.lock();
    thread_wait *each = first_;
    while (each && !each->rouse())
        each = each->next_;
    lock_.unlock();
    return each != nullptr;
}

void hand_polling_on(team &crew) noexcept {
    if (!crew.outside.any() || crew.outside.is_watched() ||
        crew.searching.load(std::memory_order_seq_cst) != 0) // pairs with sleep_or_watch
        return;
    // Threads that are awake may be about to leave.
    if (!waiting_threads.any() || !waiting_threads.rouse_one())
        crew.wake_one(0);
}

void sleep_or_watch(thread_wait &w) noexcept {
    waiting_threads.add(w);
    bool watched = false;
    if (const team_visit here; team *crew = here.crew())
        // A worker that searches polls too. When it leaves off, it watches or hands on.
        watched = crew->outside.expect_something() &&
                  crew->searching.load(std::memory_order_seq_cst) == 0 && // pairs with hand_polling_on
                  crew->outside.watch(*crew, w);
    if (!watched)
        w.sleep();
    waiting_threads.remove(w);
    // In any case: one that did not watch may have been chosen to, just when its wait ended.
    if (const team_visit here; team *crew = here.crew())
        hand_polling_on(*crew);
}

} // namespace fult::detail
