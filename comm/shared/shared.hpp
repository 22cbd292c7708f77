// Transport within a host: rings in shared memory for messages, process-to-process copies for one-sided
// transfers. No threads, no locks, nothing that a killed process could leave behind.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

struct shared_settings {
    std::string name; // of this rank, unique on the host; remains of an earlier process under it are replaced
    int rank = 0;
    int ranks = 1;              // of this host, at most
    std::size_t message = 8192; // maximum message size in bytes; identical for all ranks, as are those below
    std::size_t ring = 131072;  // minimum bytes of a ring; more if fewer than four largest messages would fit
    std::size_t room = ~std::size_t{0}; // maximum bytes of all rings of this rank, identical for all ranks.
                                        // If too small, rings and messages become smaller
    unsigned max_polled = 8; // with at most this number of other ranks on the host, all rings are polled.
                             // With more, ranks notify by a bit
    bool copies = true;      // offer one-sided transfers if the system permits copies between processes
};

// Throws std::runtime_error with the cause and the remedy; std::system_error if this host has not enough
// shared memory.
//
// One-sided transfers use process_vm_readv(2), so limits().one_sided is known only after connect has tried it
// with every other rank; it is false if the system forbids it (rootless containers, hardened kernels). All of
// a rank's memory is open to the other ranks' transfers: enroll returns a key, but it is not checked. A
// transfer of memory that no longer exists ends with `lost`; one of unregistered memory accesses whatever is
// there.
//
// What inject has accepted arrives even if this rank ends at once. A message is either complete or absent,
// whenever the sender is killed. All memory is allocated at start.
//
// A rank that writes invalid data is reported by `lost`, with a posted packet whose rank is set to the failed
// one.
std::unique_ptr<transport> open_shared(const shared_settings &settings);

} // namespace fult::comm::detail
