// Transport over libibverbs: reliable connections of InfiniBand and RoCE adapters, between hosts.
//
// A connection to a rank is made by the first message to it, or from it: both sides exchange the numbers of
// their queue pairs in datagrams (connector.hpp). All connections receive from one shared queue. Each
// operation of transport is one work request: inject and send a SEND, read an RDMA READ, write an RDMA WRITE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

struct verbs_settings {
    // The adapters' ports to use, separated by commas, each as mlx5_0, mlx5_0:1, or the name or address of
    // its network interface; "": all that are active.
    std::string ports;
    unsigned index = 0; // of the device among those of this rank; devices take the ports in turn
    int gid = -1;       // index into the port's table; -1 chooses
    int rank = 0;
    std::size_t receive_packet_bytes = 8192; // capacity of the packets that are posted
    unsigned descriptor = 0;                 // index into packet::descriptor for this transport
    bool sleep = true;                       // request a descriptor to sleep on
    std::chrono::seconds silence{5};         // after which a rank counts as dead
    std::uint8_t retries = 7; // of a packet that is not acknowledged; soft-RoCE takes 7 as no limit
};

// Throws std::runtime_error with the request, the usable ports and the remedy.
//
// In addition to the contract of transport: the destructor drops what has not been transmitted, so ranks must
// agree that all has arrived (a barrier) before they close. Operations on a rank that has ended fail after
// the adapter's retries: one to four seconds, or up to the silence if that is longer.
std::unique_ptr<transport> open_verbs(const verbs_settings &settings);

// What these settings would use. The adapter is opened for a trial, and locks so many bytes for packets.
struct verbs_offer {
    std::string network;  // ranks with the same one can reach each other; empty if no port is usable, or
                          // libibverbs is not installed
    std::string shortage; // why the port is of no use all the same: no memory or queues can be had
};
verbs_offer offer_verbs(const verbs_settings &settings, std::size_t packet_memory = 0) noexcept;

// Numbers of operations since the transport was opened.
struct verbs_counts {
    std::uint64_t sends = 0;         // work requests: SEND, those of inject included
    std::uint64_t inlined = 0;       // sends whose bytes the work request contained
    std::uint64_t reads = 0;         // RDMA READ
    std::uint64_t writes = 0;        // RDMA WRITE
    std::uint64_t unsignaled = 0;    // work requests without a completion of their own
    std::uint64_t doorbells = 0;     // calls that posted work requests
    std::uint64_t receives = 0;      // buffers posted to the shared queue
    std::uint64_t receive_bells = 0; // calls that posted these
    std::uint64_t completions = 0;
    std::uint64_t polls = 0;     // of the completion queue
    std::uint64_t events = 0;    // wake-ups by the completion channel
    std::uint64_t greetings = 0; // datagrams sent to make connections
    std::uint64_t strange = 0;   // datagrams refused
    std::uint64_t connections = 0;
    std::uint64_t broken = 0;        // connections that failed
    std::uint64_t registrations = 0; // of memory, with the adapter
    std::uint64_t registration_hits = 0;
};

// Of a transport that open_verbs has returned; nullptr for others. Under the device's lock.
const verbs_counts *counts_of(const transport &which) noexcept;

} // namespace fult::comm::detail
