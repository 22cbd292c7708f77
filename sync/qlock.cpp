#include <fult/runtime.hpp>
#include <fult/sync/qlock.hpp>
#include <fult/this_task.hpp>

#include "fult/worker.hpp"

namespace fult {
namespace {

// Looks at a lock whose owner is expected to leave it soon: well below the price of two switches.
constexpr unsigned looks = 20;

} // namespace

// Whether it got the lock. Looks only while nobody queues: who comes later stands behind those.
bool qlock::look_for_a_while() noexcept {
    for (unsigned i = 0; i < looks; ++i) {
        const std::uint32_t seen = word_.load(std::memory_order_relaxed);
        if (seen == wanted)
            return false;
        if (seen == open && take_open())
            return true;
        detail::cpu_relax();
    }
    return false;
}

// Under the queue's lock: takes the lock if it is free (true), else says that it is wanted.
bool qlock::take_or_want() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        if (seen == wanted)
            return false;
        if (word_.compare_exchange_weak(seen, seen == open ? taken : wanted, std::memory_order_acquire,
                                        std::memory_order_relaxed)) // pairs with unlock
            return seen == open;
    }
}

// A task that unlocks while others queue mostly comes back at once, or suspends. To hand over takes a switch,
// so it waits for this worker's next decision: where a handed-over task would be no sooner either.

bool qlock::take_back() noexcept {
    detail::worker *here = detail::this_worker();
    if (!here || !here->take_back(this))
        return false;
    --returns_;
    return true;
}

// By the owner. The first in the queue must be one that does not leave: the lock lives as long.
bool qlock::keep() noexcept {
    detail::worker *here = detail::this_worker();
    if (returns_ == 0 || !here || !here->current || word_.load(std::memory_order_relaxed) != wanted)
        return false;
    if (!first_stays_) {
        queueing_.lock();
        const detail::waiter *first = queue_.first();
        first_stays_ = first && first->stays() && first->is_free_task();
        queueing_.unlock();
    }
    return first_stays_ && here->keep(this, &pass_on);
}

void qlock::start_turn() noexcept {
    returns_ = most_returns;
    first_stays_ = false;
}

detail::task *qlock::pass_on(void *lock, detail::worker &here) noexcept {
    auto &self = *static_cast<qlock *>(lock);
    self.start_turn();
    self.queueing_.lock();
    detail::waiter *next = self.queue_.pop(); // it stays: there is one
    if (self.queue_.empty())
        self.word_.store(taken, std::memory_order_relaxed);
    self.queueing_.unlock();
    return next->grant_claimed(&here);
}

// What this worker keeps may be taken back, as by lock.
bool qlock::try_lock_slow() noexcept {
    return take_back() || (detail::let_others_run_at_times() && take_open());
}

void qlock::lock_slow() noexcept {
    if (take_back() || look_for_a_while())
        return;
    detail::waiter self{detail::waiter::without_limits()};
    queueing_.lock();
    if (take_or_want()) {
        queueing_.unlock();
        return;
    }
    queue_.push(self);
    queueing_.unlock();
    self.wait({"qlock", this});
}

std::size_t qlock::waiting() noexcept {
    std::size_t count = 0;
    queueing_.lock();
    for (const detail::waiter *w = queue_.first(); w; w = w->next)
        ++count;
    queueing_.unlock();
    return count;
}

bool qlock::lock_within(const detail::wait_limits &limits) {
    if (take_back() || look_for_a_while())
        return true;
    detail::waiter self;
    queueing_.lock();
    if (take_or_want()) {
        queueing_.unlock();
        return true;
    }
    return detail::wait_in({"qlock", this}, queueing_, queue_, self, limits, [this] {
        if (queue_.empty()) // only the holder of queueing_ changes the word from `wanted`
            word_.store(taken, std::memory_order_relaxed);
    });
}

void qlock::unlock_slow() noexcept {
    if (keep())
        return; // it may end the lock's life from here on
    queueing_.lock();
    if (word_.load(std::memory_order_relaxed) == open) {
        queueing_.unlock();
        detail::misuse("qlock::unlock", "the lock is not taken; unlock it once for each lock");
    }
    start_turn();
    detail::waiter *next = queue_.pop();
    if (queue_.empty())
        word_.store(taken, std::memory_order_relaxed); // it stays taken: by the one that is granted
    queueing_.unlock();
    if (next)
        next->grant_next(); // it may end the lock's life from here on
    else
        unlock(); // the last one gave up meanwhile; opening it is the last that touches it
}

} // namespace fult
