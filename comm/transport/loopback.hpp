// Transport between ranks of one process: for programs without a launcher, and for tests, which can make it
// as unreliable as a network.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

struct loopback_settings {
    std::size_t inject = 256;
    std::size_t message = 8192;
    std::size_t depth = 1024; // messages that a rank's queue holds; then `again`
    bool one_sided = true;
    bool local_keys = false;          // local memory must be registered too, as InfiniBand adapters require
    bool delivers_after_close = true; // as transport_limits
    unsigned window = 0;              // likewise
    bool guarded = false;             // like a network that strangers can reach
    unsigned refuse_every = 0;        // every so many-th call returns `again`; 0: none
};

// Shared by the ranks, each of which opens one transport on it.
class loopback_hub;
std::shared_ptr<loopback_hub> make_loopback_hub(int ranks, const loopback_settings &settings = {});
std::unique_ptr<transport> open_loopback(std::shared_ptr<loopback_hub> hub, int rank);

// As if that rank had been killed: sends to it fail.
void cut_off(loopback_hub &hub, int rank) noexcept;
// Packets in a rank's queue.
std::size_t packets_waiting(loopback_hub &hub, int rank) noexcept;
// Puts bytes into a rank's queue, as if they came from the network.
bool inject_bytes(loopback_hub &hub, int to, const void *bytes, std::size_t size);

} // namespace fult::comm::detail
