#include <fult/detail/assertion.hpp>
#include <fult/sync/latch.hpp>

namespace fult {

void latch::count_down(std::ptrdiff_t update) noexcept {
    if (update < 0)
        detail::misuse("latch::count_down", "the update is negative");
    std::ptrdiff_t seen = count_.load(std::memory_order_relaxed);
    while (seen > update)
        if (count_.compare_exchange_weak(seen, seen - update,
                                         std::memory_order_acq_rel, // pairs with try_wait
                                         std::memory_order_relaxed))
            return;
    if (update == 0)
        return;
    detail::wait_chain all;
    lock_.lock();
    seen = count_.fetch_sub(update, std::memory_order_acq_rel); // pairs with try_wait
    FULT_ASSERT(seen <= update, "above the update the count is lowered without the lock");
    if (seen == update)
        all.add_all(waiters_);
    lock_.unlock();
    if (seen < update)
        detail::misuse("latch::count_down", "the update is above the count");
    all.grant();
}

// Passes through the lock after zero was seen: then the last count_down no longer uses the latch.
bool latch::try_wait() const noexcept {
    if (count_.load(std::memory_order_acquire) != 0) // pairs with count_down
        return false;
    lock_.lock();
    lock_.unlock();
    return true;
}

void latch::wait() const noexcept {
    if (!try_wait())
        wait_within(detail::wait_limits());
}

bool latch::wait_within(const detail::wait_limits &limits) const {
    detail::waiter self;
    lock_.lock();
    if (count_.load(std::memory_order_relaxed) == 0) {
        lock_.unlock();
        return true;
    }
    return detail::wait_in({"latch", this}, lock_, waiters_, self, limits);
}

} // namespace fult
