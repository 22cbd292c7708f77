// Transport over libfabric: shared memory between the ranks of a host, any of its providers between hosts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

enum class reach {
    same_host, // only ranks of this host, by shared memory
    network    // also ranks of other hosts
};

struct fabric_settings {
    reach scope = reach::network;
    std::string provider;  // its name in fi_info -l; "" chooses the best for `scope`
    std::string interface; // address or name of the network interface; "" leaves it to the provider
    std::string name; // of this rank, unique on the host: "fult-<job>-<rank>". Remains of an earlier process
                      // under this name are removed
    int rank = 0;
    int expected_ranks = 1;
    std::size_t receive_packet_bytes = 8192; // capacity of the packets that are posted
    unsigned descriptor = 0;                 // index into packet::descriptor for this transport
    bool sleep = true;                       // request a descriptor to sleep on
};

// Throws std::runtime_error with the request, the available providers and the remedy.
//
// In addition to the contract of transport: the destructor drops what inject and send have accepted but not
// transmitted, so ranks must agree that all has arrived (a barrier) before they close.
//
// Exceptions to that contract, over libfabric's shared memory (release 1.17): a rank killed within a call may
// hold one of libfabric's locks; a later call for that rank, or a poll, then does not return. If processes
// may not read each other's memory (process_vm_readv), a transfer that a killed rank has not answered keeps
// later ones from ending, whatever their rank. Messages are not affected.
std::unique_ptr<transport> open_fabric(const fabric_settings &settings);

} // namespace fult::comm::detail
