// The network by way of libfabric: shared memory between the ranks of a host, any of its providers between
// hosts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "comm/transport.hpp"

namespace fult::comm::detail {

enum class reach {
    same_host, // only ranks of this host: memory is shared
    network    // ranks of other hosts too
};

struct fabric_settings {
    reach where = reach::network;
    std::string provider; // its name as fi_info -l spells it; "" takes the best that `where` allows
    std::string
        interface;    // the address or the name of the network interface to use; "" is up to the provider
    std::string name; // of this rank, the same for no other on the host: "fult-<job>-<rank>". What an earlier
                      // process left behind under it is removed
    int rank = 0;
    int expected_ranks = 1;
    std::size_t receive_packet_bytes = 8192; // capacity of the packets that are posted
    unsigned descriptor = 0;                 // which of packet::descriptor is for this transport
    bool sleep = true;                       // ask for a descriptor to sleep on
};

// Throws std::runtime_error: what was asked for, what there is, and what to do.
//
// Beyond what transport promises: the destructor drops what inject and send have taken over but not yet
// passed on, so ranks agree that all has arrived (a barrier) before they close.
//
// Less than transport promises, over libfabric's shared memory (release 1.17): a rank that is killed within a
// call may hold one of its locks, and whoever then calls for that rank, or polls, does not return. And where
// one process may not read another's memory (process_vm_readv), a transfer that a killed rank has not
// answered keeps later ones from ending, whoever they are for. Messages go on.
std::unique_ptr<transport> open_fabric(const fabric_settings &settings);

} // namespace fult::comm::detail
