// The network interface, as small as the protocol permits: messages of one packet, and one-sided transfers if
// the network has them. Implemented by loopback (ranks of one process), shared (ranks of one host), verbs
// (InfiniBand and RoCE adapters) and fabric (libfabric).
//
// A device uses its transports under its own lock, so one thread at a time calls the functions below, unless
// stated otherwise. None of them blocks, suspends or calls back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "comm/packets/packet.hpp"

namespace fult::comm::detail {

enum class outcome {
    done,  // accepted; its event follows, if it has one
    again, // no queue space now: poll, then retry
    failed // the other rank cannot be reached any more
};

// What other ranks may do with registered memory, as far as the transport can restrict it.
enum class access_rights { none, read, write, read_and_write };

// Memory that this rank's operations use, and other ranks may read or write.
struct memory {
    void *base = nullptr;
    std::size_t size = 0;
    std::uint64_t address = 0;  // address of base as used by the other rank
    std::uint64_t key = 0;      // grants the other rank access
    void *descriptor = nullptr; // for this rank's own operations
    void *handle = nullptr;     // the transport's
};

// A one-sided transfer between local memory and that of another rank. The caller keeps it, the local memory
// and its registration until its event.
struct transfer : work_request {
    void *local = nullptr;
    std::size_t size = 0;
    void *descriptor = nullptr; // memory::descriptor of the local side; nullptr if not registered
    std::uint64_t address = 0;  // memory::address of the other side, plus an offset
    std::uint64_t key = 0;
    int rank = -1;
    // Not used by transports: the owner, and what to call at the end if the owner is not a receive.
    void *owner = nullptr;
    void (*end_handler)(transfer &, bool ok) noexcept = nullptr;
};

enum class event_kind {
    received,    // a packet, size set; give it back by post
    sent,        // a packet, free again
    transferred, // a transfer, complete on both sides
    lost         // the packet or transfer of a failed operation. The rank of a posted packet is the one
                 // that cannot be reached any more, or -1: none
};
struct event {
    event_kind kind;
    work_request *request;
};

struct transport_limits {
    std::size_t inject = 0;   // maximum bytes of inject
    std::size_t message = 0;  // maximum bytes of a packet
    bool one_sided = false;   // read and write work
    bool local_keys = false;  // local memory must be registered too: packets and transfers carry descriptors
    bool guarded = false;     // processes outside the job could send packets: see guarded_head
    unsigned window = 0;      // not 0: it buffers what arrives without limit, so a sender has at most so many
                              // packets on their way to a rank (credits.hpp)
    bool stops_writes = true; // after forget, that rank's transfers do not write into this rank's memory
    bool delivers_after_close = false; // what it has accepted arrives, also if it is closed before
};

class transport {
  public:
    transport() = default;
    transport(const transport &) = delete;
    transport &operator=(const transport &) = delete;
    virtual ~transport() = default; // outstanding operations are dropped

    virtual const char *name() const noexcept = 0; // for messages: "shared", "shm", "tcp;ofi_rxm", "loopback"
    virtual transport_limits limits() const noexcept = 0;

    // Setup: each rank publishes its address and gets those of all ranks. An empty address belongs to a rank
    // that this transport cannot reach. Throws std::runtime_error.
    virtual std::string address() const = 0;
    virtual void connect(std::span<const std::string> addresses) = 0;
    // To be called when all ranks have returned from connect: removes the names under which others have found
    // this rank, so that a killed process leaves no files.
    virtual void unlink_names() noexcept {}

    // Sends up to limits().inject bytes. The caller may reuse them on return. No event. Messages to one rank
    // arrive in the order of those calls of inject and send that returned `done`.
    virtual outcome inject(int rank, const void *bytes, std::size_t size) noexcept = 0;
    // Sends p.size bytes to p.rank. Event: sent.
    virtual outcome send(packet &p) noexcept = 0;
    // Provides a packet to receive a message into. Event: received.
    virtual outcome post(packet &p) noexcept = 0;
    // Transfers t.size bytes from the other rank's memory to local memory, or back. Event: transferred.
    virtual outcome read(transfer &t) noexcept = 0;
    virtual outcome write(transfer &t) noexcept = 0;
    // Makes progress. Returns the number of `events` that were filled in.
    virtual unsigned poll(std::span<event> events) noexcept = 0;

    // True if that rank has received everything that was sent to it, and may be waiting for more. May cost a
    // cache miss; false if unknown.
    virtual bool has_received_all(int) noexcept { return false; }

    // True if it holds a packet of that rank which no poll has returned. May cost a cache miss; false if
    // unknown.
    virtual bool has_packet_of(int) noexcept { return false; }

    // True if bytes of transfers with that rank have moved since the last call: a sign of life.
    virtual bool has_advanced(int) noexcept { return false; }

    // Drops the operations in flight to that rank: each ends with `lost` or has ended already. The event of a
    // transfer comes when its local memory is not accessed any more.
    virtual void forget(int rank) noexcept = 0;

    // Registers memory for transfers by others, which have no more than this access, if the transport can
    // restrict it. Any thread, at any time. On false, errno has the reason.
    virtual bool register_memory(memory &m, access_rights allowed) noexcept = 0;
    virtual void deregister_memory(memory &m) noexcept = 0;

    // What it has counted, for a person; empty if nothing. Under the device's lock, or when it is not in use.
    virtual std::string report() const { return {}; }

    // For sleeping: a descriptor that becomes readable on an event, or -1 if there is none.
    virtual int descriptor() const noexcept { return -1; }
    // Called before such a sleep. If false, poll instead.
    virtual bool may_sleep() noexcept { return true; }
};

} // namespace fult::comm::detail
