// The peers of a device, by rank: the state of each, and which of them are gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <fult/comm/status.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/base/linked_queue.hpp"
#include "comm/packets/packet.hpp"
#include "comm/packets/wire.hpp"
#include "comm/protocol/lock.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

// What a device knows of one rank of the job.
struct peer {
    int rank = -1;
    transport *route = nullptr; // nullptr for this rank itself
    unsigned route_index = 0;
    std::uint32_t head_size = sizeof(packet_head); // bytes of a packet's head
    std::size_t inject_limit = 0; // maximum bytes of an injected packet, which needs no buffer
    std::size_t fill_limit = 0;   // bytes up to which packets are filled

    std::atomic<bool> failed{false};
    std::atomic<bool> left{false}; // its context has ended normally: it sends nothing more
    // About to fail: nothing more is sent to it. Written under the device's lock, before any operation is
    // finished for this reason.
    std::atomic<bool> failing{false};
    bool ended = false;      // its process has: it fails when all that it has sent before has been handled
    bool leave_sent = false; // it has been sent word that this rank leaves
    bool leave_answered = false;     // it has handled all that this rank, which leaves, has sent
    bool rts_only = false;           // it asked for RTS only: too many unexpected bytes
    bool rts_only_requested = false; // this rank asked it for that
    std::atomic<std::ptrdiff_t> unexpected_bytes{0}; // bytes of its unexpected messages

    // Under the device's lock.
    packet *open_packet = nullptr;  // the one being filled
    unsigned gathered_messages = 0; // messages since the last check whether the peer waits for them
    bool is_listed = false;         // in the device's list of peers with an open packet
    peer *next_open = nullptr;
    linked_queue<send_operation, &send_operation::next> send_queue; // sends that wait for packets
    unsigned queued_answers = 0;                                    // protocol records that wait for packets
    std::uint64_t records_sent = 0;                                 // counted records (wire.hpp)
    std::uint64_t records_received = 0;                             // counted records that were handled
    unsigned unanswered_heartbeats = 0;                             // sent since its last packet arrived
    unsigned window = 0;          // packets that may be uncredited (credits.hpp); 0: any number
    unsigned uncredited_sent = 0; // packets sent that the peer has not reported as handled
    unsigned uncredited_received =
        0;                       // packets of the peer that have been handled, and not been reported to it
    bool credit_is_late = false; // the transport had no room for it
    bool is_blocked = false;     // in the device's list of peers with waiting sends
    peer *next_blocked = nullptr;
    unsigned deferred_packets = 0; // its packets that wait for memory; later ones wait behind them
    bool lacks_memory = false;     // in this retry of deferred packets
    bool lacks_room = false;       // in this retry of queued answers

    bool is_failing() const noexcept { return failing.load(std::memory_order_relaxed); }
    // The window of packets, under the device's lock. The sender: may one more go out; one more has.
    bool may_send() const noexcept { return window == 0 || uncredited_sent < window; }
    void count_sent() noexcept { uncredited_sent += window != 0 ? 1 : 0; }
    // The receiver: one more packet, other than a credit, has been handled. Returns true if credits::report
    // is due.
    bool count_handled() noexcept { return window != 0 && ++uncredited_received >= window / 2; }

    peer() = default;
    peer(const peer &) = delete;
    peer &operator=(const peer &) = delete;
};

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
