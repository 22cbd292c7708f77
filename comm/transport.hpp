// The network, as small as the protocol can do with: messages of one packet, and one-sided transfers where
// there are any. Implemented by loopback (ranks of one process), shared (ranks of one
// host) and fabric (libfabric).
//
// A device uses its transports under its own lock, so one thread at a time is in any function below, but for
// those that say otherwise. None of them blocks, suspends or calls back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "comm/packet.hpp"

namespace fult::comm::detail {

enum class outcome {
    done,  // taken over; where there is an event, it follows
    again, // no room at present: poll, then try again
    failed // the other rank cannot be reached any more
};

// Memory that other ranks may read or write.
struct memory {
    void *base = nullptr;
    std::size_t size = 0;
    std::uint64_t address = 0;  // what the other rank calls base
    std::uint64_t key = 0;      // and shows to be let in
    void *descriptor = nullptr; // for this rank's own operations
    void *handle = nullptr;     // the transport's
};

// A one-sided transfer between local memory and that of another rank. The caller keeps it, the local memory
// and `from` alive until its event.
struct transfer : posted {
    void *local = nullptr;
    std::size_t size = 0;
    void *descriptor = nullptr; // memory::descriptor of the local side; null where not registered
    std::uint64_t address = 0;  // memory::address of the other side, plus an offset
    std::uint64_t key = 0;
    int rank = -1;
    // Of no concern to the transport: whose it is, and what to do at its end where that is no receive.
    void *owner = nullptr;
    void (*ended)(transfer &, bool well) noexcept = nullptr;
};

struct event {
    enum class kind {
        received, // what: a packet, size set; to be given back by post
        sent,     // what: a packet, free again
        moved,    // what: a transfer that is complete, at both sides
        lost // what: the packet or transfer of an operation that failed. A packet that was posted tells by
             // its rank who cannot be reached any more, -1: nobody
    };
    kind what_happened;
    posted *what;
};

struct transport_limits {
    std::size_t inject = 0;  // bytes that inject takes
    std::size_t message = 0; // bytes that a packet may carry at most
    bool one_sided = false;  // read and write work
    bool local_keys = false; // local memory must be registered too: packets and transfers carry descriptors
    bool guarded = false;    // processes that are not of the job could send packets, too: see guarded_head
};

class transport {
  public:
    transport() = default;
    transport(const transport &) = delete;
    transport &operator=(const transport &) = delete;
    virtual ~transport() = default; // outstanding operations are dropped

    virtual const char *name() const noexcept = 0; // for messages: "shared", "shm", "tcp;ofi_rxm", "loopback"
    virtual transport_limits limits() const noexcept = 0;

    // Setting up: each rank tells its address to all others, and is then told all, by rank. An empty one
    // belongs to a rank that this transport cannot reach. Throws std::runtime_error.
    virtual std::string address() const = 0;
    virtual void connect(std::span<const std::string> addresses) = 0;
    // To be called when all ranks have returned from connect: removes the names under which others have found
    // this rank, so that a process that is killed leaves no files.
    virtual void conceal() noexcept {}

    // Sends up to limits().inject bytes, which are the caller's again at return. No event.
    // Messages to one rank arrive in the order of the calls of inject and send that returned `done`.
    virtual outcome inject(int rank, const void *bytes, std::size_t size) noexcept = 0;
    // Sends p.size bytes to p.rank. Event: sent.
    virtual outcome send(packet &p) noexcept = 0;
    // Gives a packet into which a message may arrive. Event: received.
    virtual outcome post(packet &p) noexcept = 0;
    // t.size bytes from the other rank's memory into ours, or the other way. Event: moved.
    virtual outcome read(transfer &t) noexcept = 0;
    virtual outcome write(transfer &t) noexcept = 0;
    // Makes progress and tells what happened; how many of `events` were filled in.
    virtual unsigned poll(std::span<event> events) noexcept = 0;

    // Whether that rank has taken all that was sent to it, and may be waiting for more. Worth a cache miss;
    // false where nobody knows.
    virtual bool has_taken_all(int) noexcept { return false; }

    // Gives up what is under way to that rank: each such operation ends with `lost` or is ended already.
    virtual void forget(int rank) noexcept = 0;

    // Memory for others' transfers; from any thread, at any time. False: errno says why.
    virtual bool enroll(memory &m) noexcept = 0;
    virtual void withdraw(memory &m) noexcept = 0;

    // Sleeping until something happens: a descriptor that becomes readable then, or -1 where there is none.
    virtual int descriptor() const noexcept { return -1; }
    // Before such a sleep; false: do not sleep, poll.
    virtual bool may_sleep() noexcept { return true; }
};

} // namespace fult::comm::detail
