// A device's state for one rank of the job.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/base/linked_queue.hpp"
#include "comm/packets/packet.hpp"
#include "comm/packets/wire.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

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

    peer() = default;
    peer(const peer &) = delete;
    peer &operator=(const peer &) = delete;
};

} // namespace fult::comm::detail
