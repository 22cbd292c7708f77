// Ranks of one process: for programs that nobody launched, and for tests, which may make it as bad as a
// network.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/transport.hpp"

namespace fult::comm::detail {

struct loopback_settings {
    std::size_t inject = 256;
    std::size_t message = 8192;
    std::size_t depth = 1024; // messages that a rank's queue holds; then `again`
    bool one_sided = true;
    bool local_keys = false;   // this rank's memory must be enrolled too, as InfiniBand's adapters want it
    bool guarded = false;      // as a network that strangers reach
    unsigned refuse_every = 0; // every so many-th call returns `again`; 0: none
};

// The ranks' common ground; each rank opens one transport on it.
class loopback_hub;
std::shared_ptr<loopback_hub> make_loopback_hub(int ranks, const loopback_settings &settings = {});
std::unique_ptr<transport> open_loopback(std::shared_ptr<loopback_hub> hub, int rank);

// As if that rank had been killed: what goes to it fails.
void cut_off(loopback_hub &hub, int rank) noexcept;
// Puts bytes into a rank's queue, as if they came from the network.
bool inject_bytes(loopback_hub &hub, int to, const void *bytes, std::size_t size);

} // namespace fult::comm::detail
