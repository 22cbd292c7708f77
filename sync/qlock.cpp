#include <fult/detail/assertion.hpp>
#include <fult/runtime.hpp>
#include <fult/sync/qlock.hpp>
#include <fult/this_task.hpp>

#include "fult/scheduler/worker.hpp"

namespace fult {
namespace {

// Spins on a lock whose owner is expected to release it soon: well below the cost of two switches.
constexpr unsigned spin_iterations = 20;

} // namespace

// Spins for the lock. Returns true if it was acquired. Spins only while the queue is empty: later callers
// queue behind the waiters.
bool qlock::spin() noexcept {
    for (unsigned i = 0; i < spin_iterations; ++i) {
        const std::uint32_t seen = word_.load(std::memory_order_relaxed);
        if (seen == contended)
            return false;
        if (seen == unlocked && acquire_if_free())
            return true;
        detail::cpu_relax();
    }
    return false;
}

// Under the queue's lock: acquires the lock if it is free (true), else marks it contended.
bool qlock::acquire_or_mark_contended() noexcept {
    FULT_ASSERT(queueing_.is_held());
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        if (seen == contended)
            return false;
        if (word_.compare_exchange_weak(seen, seen == unlocked ? locked : contended,
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed)) // pairs with unlock
            return seen == unlocked;
    }
}

// A task that unlocks while others queue often locks again at once, or suspends. Handing off the lock takes a
// switch, so the release is deferred until this worker's next decision: a handed-off task would not run
// before it either.

bool qlock::reacquire() noexcept {
    detail::worker *here = detail::this_worker();
    if (!here || !here->handed_off().reacquire(this))
        return false;
    FULT_ASSERT(word_.load(std::memory_order_relaxed) == contended, "a deferred lock has waiters");
    FULT_ASSERT(reacquisitions_left_ != 0);
    --reacquisitions_left_;
    return true;
}

// Called by the owner. The first waiter must be one without limits: it keeps the lock object alive.
bool qlock::defer_release() noexcept {
    detail::worker *here = detail::this_worker();
    if (reacquisitions_left_ == 0 || !here || !here->current ||
        word_.load(std::memory_order_relaxed) != contended)
        return false;
    if (!first_stays_) {
        queueing_.lock();
        const detail::waiter *first = queue_.first();
        first_stays_ = first && first->stays() && first->is_free_task();
        queueing_.unlock();
    }
    return first_stays_ && here->handed_off().defer_release(*here, this, &transfer);
}

void qlock::start_turn() noexcept {
    reacquisitions_left_ = max_reacquisitions;
    first_stays_ = false;
}

detail::task *qlock::transfer(void *lock, detail::worker &here) noexcept {
    auto &self = *static_cast<qlock *>(lock);
    self.start_turn();
    self.queueing_.lock();
    detail::waiter *next = self.queue_.pop(); // it has no limits, so the queue is not empty
    FULT_ASSERT(next && next->stays() && self.word_.load(std::memory_order_relaxed) == contended);
    if (self.queue_.empty())
        self.word_.store(locked, std::memory_order_relaxed);
    self.queueing_.unlock();
    return next->grant_claimed(&here);
}

// A deferred lock of this worker may be reacquired, as in lock.
bool qlock::try_lock_slow() noexcept {
    return reacquire() || (detail::let_others_run_sometimes() && acquire_if_free());
}

void qlock::lock_slow() noexcept { lock_within(detail::wait_limits()); }

std::size_t qlock::waiting() noexcept {
    std::size_t count = 0;
    queueing_.lock();
    for (const detail::waiter *w = queue_.first(); w; w = w->next)
        ++count;
    queueing_.unlock();
    return count;
}

bool qlock::lock_within(const detail::wait_limits &limits) {
    if (reacquire() || spin())
        return true;
    detail::waiter self(limits);
    queueing_.lock();
    if (acquire_or_mark_contended()) {
        queueing_.unlock();
        return true;
    }
    return detail::wait_in({"qlock", this}, queueing_, queue_, self, limits, [this] {
        if (queue_.empty()) // only the holder of queueing_ changes the word from `contended`
            word_.store(locked, std::memory_order_relaxed);
    });
}

void qlock::unlock_slow() noexcept {
    if (defer_release())
        return; // the lock may be destroyed from here on
    queueing_.lock();
    if (word_.load(std::memory_order_relaxed) == unlocked) {
        queueing_.unlock();
        detail::misuse("qlock::unlock", "the lock is not locked; unlock it once for each lock");
    }
    start_turn();
    detail::waiter *next = queue_.pop();
    FULT_ASSERT(!next || word_.load(std::memory_order_relaxed) == contended,
                "a lock with waiters is contended");
    if (queue_.empty())
        word_.store(locked, std::memory_order_relaxed); // stays locked, for the granted waiter
    queueing_.unlock();
    if (next)
        next->grant_next(); // the lock may be destroyed from here on
    else
        unlock(); // the last waiter gave up in the meantime; unlocking is the last access
}

} // namespace fult
