#include <fult/runtime.hpp>
#include <fult/sync/qlock.hpp>
#include <fult/this_task.hpp>

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
        if (seen == open && try_lock())
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

void qlock::lock_slow() noexcept {
    if (look_for_a_while())
        return;
    detail::waiter self{detail::waiter::without_limits()};
    queueing_.lock();
    if (take_or_want()) {
        queueing_.unlock();
        return;
    }
    queue_.push(self);
    queueing_.unlock();
    self.wait();
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
    if (look_for_a_while())
        return true;
    detail::waiter self;
    queueing_.lock();
    if (take_or_want()) {
        queueing_.unlock();
        return true;
    }
    return detail::wait_in(queueing_, queue_, self, limits, [this] {
        if (queue_.empty()) // only the holder of queueing_ changes the word from `wanted`
            word_.store(taken, std::memory_order_relaxed);
    });
}

void qlock::unlock_slow() noexcept {
    queueing_.lock();
    if (word_.load(std::memory_order_relaxed) == open) {
        queueing_.unlock();
        detail::misuse("qlock::unlock", "the lock is not taken; unlock it once for each lock");
    }
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
