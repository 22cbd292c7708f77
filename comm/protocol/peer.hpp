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
    transport *via = nullptr; // nullptr for this rank itself
    unsigned via_index = 0;
    std::uint32_t head = sizeof(packet_head); // bytes of a packet's head
    std::size_t inject = 0;                   // maximum bytes of an injected packet, which needs no buffer
    std::size_t fills = 0;                    // bytes up to which packets are filled

    std::atomic<bool> failed{false};
    std::atomic<bool> left{false}; // its context has ended normally: it sends nothing more
    // About to fail: nothing more is sent to it. Written under the device's lock, before any operation is
    // finished for this reason.
    std::atomic<bool> doomed{false};
    bool ended = false; // its process has: it is doomed when all that it has sent before has been handled
    bool knows_leave = false;                  // it has been sent word that this rank leaves
    bool took_leave = false;                   // it has handled all that this rank, which leaves, has sent
    bool offers_only = false;                  // it asked for RTS only: too many unexpected bytes
    bool told_slower = false;                  // this rank asked it for that
    std::atomic<std::ptrdiff_t> unexpected{0}; // bytes of its unexpected messages

    // Under the device's lock.
    packet *open = nullptr; // the packet being filled
    unsigned gathered = 0;  // messages since the last check whether the peer waits for them
    bool listed = false;    // in the device's list of peers with an open packet
    peer *next_open = nullptr;
    linked_queue<sending, &sending::next> waiting; // sends that wait for packets
    unsigned held_answers = 0;                     // protocol records that wait for packets
    std::uint64_t sent = 0;                        // counted records (wire.hpp)
    std::uint64_t received = 0;                    // counted records that were handled
    unsigned quiet = 0;                            // signs of life sent since its last packet arrived
    unsigned window = 0;         // packets that may be unreported (credits.hpp); 0: any number
    unsigned unreported = 0;     // packets sent that the peer has not reported as handled
    unsigned handled = 0;        // packets of the peer that have been handled, and not been reported to it
    bool report_is_late = false; // the transport had no room for it
    bool blocked = false;        // in the device's list of peers with waiting sends
    peer *next_blocked = nullptr;
    unsigned deferred = 0;  // its packets that wait for memory; later ones wait behind them
    bool no_memory = false; // in this retry of deferred packets
    bool no_room = false;   // in this retry of held answers

    bool is_doomed() const noexcept { return doomed.load(std::memory_order_relaxed); }

    peer() = default;
    peer(const peer &) = delete;
    peer &operator=(const peer &) = delete;
};

} // namespace fult::comm::detail
