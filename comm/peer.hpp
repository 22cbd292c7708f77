// What a device knows of another rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/operation.hpp"
#include "comm/packet.hpp"
#include "comm/transport.hpp"
#include "comm/wire.hpp"

namespace fult::comm::detail {

struct peer {
    int rank = -1;
    transport *via = nullptr; // null: this rank itself
    unsigned via_index = 0;
    std::uint32_t head = sizeof(packet_head); // bytes of its packets' heads
    std::size_t inject = 0;                   // bytes that go without a packet of their own
    std::size_t fills = 0;                    // bytes up to which a packet for it is filled

    std::atomic<bool> failed{false};
    std::atomic<bool> left{false};             // its context has ended in good order: it sends nothing more
    bool doomed = false;                       // about to fail: nothing more is sent
    bool offers_only = false;                  // it asked for no more unexpected bytes
    bool told_slower = false;                  // we asked it for that
    std::atomic<std::ptrdiff_t> unexpected{0}; // bytes of its messages that nobody has asked for

    // Under the device's lock.
    packet *open = nullptr; // being filled
    unsigned gathered = 0;  // messages since the last look at whether it waits for them
    bool listed = false;    // among the device's peers with an open packet
    peer *next_open = nullptr;
    sending *first = nullptr; // sends that found no room, in their order
    sending *last = nullptr;
    unsigned held_answers = 0;  // records of the protocol that found no room
    std::uint64_t sent = 0;     // records that are counted (wire.hpp)
    std::uint64_t received = 0; // the same, and handled
    unsigned quiet = 0;         // signs of life that were sent since something came from it
    bool blocked = false;       // among the device's peers with such sends
    peer *next_blocked = nullptr;
    unsigned deferred = 0;  // packets of it that wait for memory; those behind them wait too
    bool no_memory = false; // in this round of looks at them
    bool no_room = false;   // in this round of looks at the held answers

    peer() = default;
    peer(const peer &) = delete;
    peer &operator=(const peer &) = delete;
};

} // namespace fult::comm::detail
