#include <fult/detail/assertion.hpp>
#include <fult/sync/semaphore.hpp>

namespace fult::detail {

// While the count is `contended`, only the holder of the lock changes it.
bool semaphore_base::acquire(const wait_limits &limits) {
    waiter self;
    lock_.lock();
    std::ptrdiff_t seen = count_.load(std::memory_order_relaxed);
    while (seen != contended) {
        if (!count_.compare_exchange_weak(seen, seen > 0 ? seen - 1 : contended, std::memory_order_acquire,
                                          std::memory_order_relaxed)) // pairs with release
            continue;
        if (seen > 0) {
            lock_.unlock();
            return true;
        }
        break;
    }
    return wait_in({"semaphore", this}, lock_, waiters_, self, limits, [this] {
        FULT_ASSERT(count_.load(std::memory_order_relaxed) == contended,
                    "only the holder of the lock changes it");
        if (waiters_.empty())
            count_.store(0, std::memory_order_relaxed);
    });
}

void semaphore_base::release(std::ptrdiff_t update) noexcept {
    if (update < 0 || update > most_)
        misuse("counting_semaphore::release", "the update is negative or above max()");
    std::ptrdiff_t seen = count_.load(std::memory_order_relaxed);
    while (seen != contended) {
        if (update > most_ - seen)
            misuse("counting_semaphore::release",
                   "the count would exceed max(): more was released than acquired");
        if (count_.compare_exchange_weak(seen, seen + update, std::memory_order_release, // pairs with acquire
                                         std::memory_order_relaxed))
            return;
    }
    wait_chain served;
    lock_.lock();
    if (count_.load(std::memory_order_relaxed) != contended) { // the last waiter has left in the meantime
        lock_.unlock();
        return release(update);
    }
    for (; update > 0 && !waiters_.empty(); --update)
        served.add(waiters_.pop());
    const bool drained = waiters_.empty();
    FULT_ASSERT(drained || update == 0, "a waiter is served before anything is added");
    if (drained)
        count_.store(0, std::memory_order_relaxed);
    lock_.unlock();
    if (drained && update > 0) // last access: a thread that acquires it may destroy the semaphore
        release(update);
    served.grant();
}

} // namespace fult::detail
