#include <cstddef>
#include <cstdio>
#include <stdexcept>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/task_subject.hpp>
#include <fult/sync/barrier.hpp>

#include "fult/scheduler/worker.hpp"

namespace fult::detail {

// How many have arrived. A barrier may end while its last waiters are about to be granted, so the kernel
// reads it, and fails where there is no memory any more.
struct barrier_report {
    static void describe(const void *object, wait_text which, char *text, std::size_t size) noexcept {
        FULT_ASSERT(which == wait_text::how_far, "the wait has a kind");
        static_assert(sizeof(barrier_base::pending_) == sizeof(std::ptrdiff_t));
        auto *at = static_cast<barrier_base *>(const_cast<void *>(object));
        std::ptrdiff_t pending = 0, expected = 0;
        text[0] = '\0';
        if (read_if_mapped(address_of(&at->pending_), &pending, sizeof pending) &&
            read_if_mapped(address_of(&at->expected_), &expected, sizeof expected))
            std::snprintf(text, size, "%td of %td have arrived", expected - pending, expected);
    }
};

barrier_base::barrier_base(std::ptrdiff_t expected) : pending_(expected), expected_(expected) {
    if (expected < 1)
        throw std::invalid_argument("fult: a barrier needs at least 1 participant");
}

barrier_base::queue &barrier_base::queue_for(const waiter &w) noexcept {
    return queues_[w.is_free_task() ? this_worker()->index % free_queues : free_queues];
}

void barrier_base::push(queue &q, waiter &w) noexcept {
    const std::uint32_t bit = 1u << (&q - queues_);
    if ((used_.load(std::memory_order_relaxed) & bit) == 0)
        used_.fetch_or(bit, std::memory_order_seq_cst); // before phase_ is checked; pairs with complete
    q.lock.lock();
    q.list.push(w);
    q.lock.unlock();
}

void barrier_base::enqueue(waiter &self) noexcept {
    self.tag = phase_.load(std::memory_order_relaxed); // constant until this participant has arrived
    FULT_ASSERT(!self.queued);
    push(queue_for(self), self);
}

bool barrier_base::arrive(std::ptrdiff_t count, const char *call) noexcept {
    // acq_rel: the last participant sees what the others wrote and where they queued
    const std::ptrdiff_t before = pending_.fetch_sub(count, std::memory_order_acq_rel);
    if (before < count || count < 1) [[unlikely]]
        misuse(call, "more arrivals in one phase than are expected, or fewer than 1: construct the barrier "
                     "with the number of its participants");
    return before == count;
}

void barrier_base::drop() noexcept { expected_.fetch_sub(1, std::memory_order_relaxed); }

// First takes all waiters out of the queues, then grants them: the first granted one may destroy the barrier.
// The waiters of another worker are granted by their first one, on that worker.
void barrier_base::complete(waiter *self) noexcept {
    const std::uint64_t ended = phase_.load(std::memory_order_relaxed);
    FULT_ASSERT(pending_.load(std::memory_order_relaxed) == 0, "the last participant completes the phase");
    pending_.store(expected_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    phase_.store(ended + 1, std::memory_order_seq_cst); // pairs with wait
    const std::uint32_t used = used_.load(std::memory_order_seq_cst);
    const worker *here = this_worker();
    const unsigned own = here ? here->index % free_queues : free_queues;
    waiter *leaders[free_queues];
    unsigned leader_count = 0;
    wait_chain now;
    for (unsigned i = 0; i <= free_queues; ++i) {
        if ((used >> i & 1) == 0)
            continue;
        queue &q = queues_[i];
        wait_chain there;
        q.lock.lock();
        for (waiter *w = q.list.first(), *next; w; w = next) {
            next = w->next;
            if (next)
                __builtin_prefetch(next->next, 1); // each is on a different stack
            if (w->tag != ended)
                continue; // belongs to the next phase: it waited with a token for this one
            q.list.remove(*w);
            if (w == self)
                self->grant_itself();
            else
                (i == own || i == free_queues ? now : there).add(w);
        }
        q.lock.unlock();
        if (!there.empty()) {
            waiter *leader = there.pop();
            leader->subject = there.first();
            FULT_ASSERT(leader_count < free_queues);
            leaders[leader_count++] = leader;
        }
    }
    for (unsigned i = 0; i < leader_count; ++i)
        leaders[i]->grant();
    now.grant_here();
}

void barrier_base::wait_enqueued(waiter &self, const void *barrier) noexcept {
    self.wait({"barrier", barrier, &barrier_report::describe});
    if (self.subject)
        wait_chain::grant_here(static_cast<waiter *>(self.subject)); // they suspended on this worker
}

void barrier_base::wait(std::uint64_t phase) noexcept {
    if (phase_.load(std::memory_order_acquire) != phase) // pairs with complete
        return;
    waiter self{wait_limits()};
    self.tag = phase;
    queue &q = queue_for(self);
    push(q, self);
    // completed in the meantime, possibly without this waiter
    if (phase_.load(std::memory_order_seq_cst) != phase && leave_queue(q.lock, q.list, self))
        return;
    wait_enqueued(self, this);
}

} // namespace fult::detail
