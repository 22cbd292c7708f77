#include <fult/detail/assertion.hpp>
#include <fult/sync/shared_qlock.hpp>

namespace fult {

// Called under lock_, with a non-empty queue. Admits the first waiters that may own the lock together with
// its present owners; adjacent readers are admitted together.
void shared_qlock::admit(detail::wait_chain &turn) noexcept {
    FULT_ASSERT(lock_.is_held() && !queue_.empty());
    std::uint64_t word = word_.load(std::memory_order_relaxed); // unlock_shared may lower it in the meantime
    FULT_ASSERT((word & contended) != 0, "a lock with waiters is contended");
    while (detail::waiter *first = queue_.first()) {
        const bool write = first->tag != 0;
        if ((word & writing) != 0 || (write && word >= reader))
            return;
        queue_.remove(*first);
        const std::uint64_t more = write ? writing : reader;
        const std::uint64_t less = queue_.empty() ? contended : 0;
        word =
            word_.fetch_add(more - less, std::memory_order_acq_rel) + more - less; // pairs with both unlocks
        turn.add(first);
    }
}

bool shared_qlock::wait_for_turn(bool write, const detail::wait_limits &limits) {
    detail::waiter self;
    self.tag = write;
    lock_.lock();
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        const bool mine = write ? seen == 0 : (seen & (writing | contended)) == 0;
        const std::uint64_t then = mine ? seen + (write ? writing : reader) : seen | contended;
        if (!word_.compare_exchange_weak(seen, then, std::memory_order_acquire, std::memory_order_relaxed))
            continue; // pairs with both unlocks
        if (!mine)
            break;
        lock_.unlock();
        return true;
    }
    detail::wait_chain turn;
    const bool got = detail::wait_in({"shared_qlock", this}, lock_, queue_, self, limits, [&] {
        if (queue_.empty())
            word_.fetch_and(~contended, std::memory_order_relaxed);
        else
            admit(turn); // readers behind a writer that gave up
    });
    turn.grant();
    return got;
}

void shared_qlock::unlock() noexcept {
    std::uint64_t seen = writing;
    if (word_.compare_exchange_strong(seen, 0, std::memory_order_release, // pairs with the locks
                                      std::memory_order_relaxed))
        return;
    if ((seen & writing) == 0)
        detail::misuse("shared_qlock::unlock", "no writer owns the lock");
    detail::wait_chain turn;
    lock_.lock();
    if (queue_.empty()) { // all waiters gave up: unlocking is the last access
        lock_.unlock();
        return unlock();
    }
    word_.fetch_and(~writing, std::memory_order_acq_rel);
    admit(turn);
    lock_.unlock();
    turn.grant();
}

void shared_qlock::unlock_shared() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
        if (seen < reader)
            detail::misuse("shared_qlock::unlock_shared", "no reader owns the lock");
        if (seen == (reader | contended))
            break; // the last reader admits the next waiters
        if (word_.compare_exchange_weak(seen, seen - reader,
                                        std::memory_order_release, // pairs with the locks
                                        std::memory_order_relaxed))
            return;
    }
    detail::wait_chain turn;
    lock_.lock();
    if (queue_.empty()) { // as in unlock
        lock_.unlock();
        return unlock_shared();
    }
    word_.fetch_sub(reader, std::memory_order_acq_rel);
    admit(turn);
    lock_.unlock();
    turn.grant();
}

} // namespace fult
