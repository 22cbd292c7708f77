// The peers of a device, by rank, and which of them are gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <fult/comm/status.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/protocol/lock.hpp"
#include "comm/protocol/peer.hpp"

namespace fult::comm::detail {

class peer_table {
  public:
    peer_table(int size, device_mutex &mutex); // throws std::bad_alloc

    int size() const noexcept { return size_; }
    peer &of(int rank) const noexcept {
        FULT_ASSERT(rank >= 0 && rank < size_);
        return peers_[static_cast<std::size_t>(rank)];
    }

    // Any thread --------------------------------------------------------------------------------------------------

    bool has_failed(int rank) const noexcept { return of(rank).failed.load(std::memory_order_acquire); }
    // It has failed, or is about to: true for every rank with which an operation has ended in peer_failed.
    bool is_lost(int rank) const noexcept {
        return of(rank).failing.load(std::memory_order_acquire) || has_failed(rank);
    }
    bool has_left(int rank) const noexcept { return of(rank).left.load(std::memory_order_acquire); }
    bool any_failed() const noexcept { return any_failed_.load(std::memory_order_acquire); }
    // True if the job has other ranks and all of them have failed or left: any_source cannot be served.
    // isolation_error: the error to report then.
    bool is_isolated() const noexcept {
        return departed_.load(std::memory_order_acquire) == size_ - 1 && size_ > 1;
    }
    bool any_departed() const noexcept { return departed_.load(std::memory_order_acquire) != 0; }
    errc isolation_error() const noexcept { return any_failed() ? errc::peer_failed : errc::peer_left; }
    // The reason why no more messages can come from source; none if they can.
    errc source_error(int source) const noexcept;

    // Under the device's lock -------------------------------------------------------------------------------------

    // Both return false if it is known already. They pair with arrivals::post: either the caller finds the
    // receive that is being posted, or post sees that the rank is gone.
    bool mark_failed(peer &peer) noexcept;
    bool mark_left(peer &peer) noexcept;

    // The process of the rank has ended: it is to be doomed when all that it has sent before has been
    // handled.
    void mark_ended(peer &peer) noexcept;
    bool any_ended() const noexcept { return ended_ != 0; }
    // Dooms those of them for which is_handled is true.
    template <class IsHandled> void schedule_ended(IsHandled is_handled) noexcept {
        for (int rank = 0; ended_ != 0 && rank < size_; ++rank)
            if (peer &each = of(rank); each.ended && is_handled(each)) {
                each.ended = false;
                --ended_;
                schedule_failure(each);
            }
    }

    // The rank fails when the lock is released: not during other operations, which might go on to use what
    // that ends.
    void schedule_failure(peer &peer) noexcept;
    peer *take_failing() noexcept; // nullptr if there is none
    bool any_failing() const noexcept { return !failing_.empty(); }
    // From now on no rank fails.
    void ignore_failures() noexcept { ignores_failures_ = true; }

  private:
    int size_;
    device_mutex &mutex_;
    std::unique_ptr<peer[]> peers_;
    std::atomic<int> departed_{0}; // peers that have failed or left
    std::atomic<bool> any_failed_{false};
    std::vector<peer *> failing_; // has capacity for all
    int ended_ = 0;               // peers that mark_ended has marked
    bool ignores_failures_ = false;
};

} // namespace fult::comm::detail
