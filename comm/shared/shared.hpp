// The network within a host: rings in shared memory for messages, and copies from process to process for
// one-sided transfers. No thread, no lock, nothing that a process could leave behind when it is killed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "comm/transport.hpp"

namespace fult::comm::detail {

struct shared_settings {
    std::string name; // of this rank, the same for no other on the host; what an earlier process left behind
                      // under it is replaced
    int rank = 0;
    int ranks = 1;              // of this host, at most
    std::size_t message = 8192; // bytes of one, at most; the same for all ranks, as are those that follow
    std::size_t ring =
        131072; // bytes of a ring, at least; more where fewer than four largest messages would fit
    std::size_t room = ~std::size_t{0}; // bytes that this rank's rings may take together, the same for all
                                        // ranks. Too few: smaller rings, and smaller messages
    unsigned looks = 8; // up to so many other ranks on the host, all rings are looked at. With more, ranks
                        // tell by a bit that there is something
    bool copies = true; // offer one-sided transfers where the system lets processes copy
};

// Throws std::runtime_error: what is missing, and what to do; std::system_error where this host has no shared
// memory for it.
//
// One-sided transfers go by process_vm_readv(2), so limits().one_sided is known once connect has tried it
// with each of the others, and is false where the system forbids it (containers of users' own, hardened
// kernels). A rank's memory is open to all transfers of the others: enroll gives a key, but nobody looks at
// it. A transfer of memory that has gone ends with `lost`; one of memory that was not meant finds what is
// there.
//
// What inject has taken over arrives even if this rank ends at once. A message is either whole or not there,
// whenever the sender is killed. All memory is allocated at the start.
//
// A rank that writes nonsense is reported: `lost`, with a packet that was posted, whose rank is set to that
// of who failed.
std::unique_ptr<transport> open_shared(const shared_settings &settings);

} // namespace fult::comm::detail
