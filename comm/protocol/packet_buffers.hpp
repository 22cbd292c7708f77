// The packets of a device: a pool whose memory the transports know, and those that they receive into.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/packets/packet_pool.hpp"
#include "comm/protocol/core.hpp"

namespace fult::comm::detail {

// Under the device's lock.
class packet_buffers {
  public:
    // Posts packets to all transports. Throws as packet_pool does.
    explicit packet_buffers(device_core &core);
    packet_buffers(const packet_buffers &) = delete;
    packet_buffers &operator=(const packet_buffers &) = delete;
    ~packet_buffers();
    // Ends the transports, which use the packets, and memory of operations in flight.
    void end_transports() noexcept;

    packet *take() noexcept { return pool_.take(0); } // to send; nullptr: none is free
    void give(packet &p) noexcept { pool_.give(0, p); }
    // A packet that was received is free again: its transport receives into it.
    void post(packet &p, std::size_t to) noexcept {
        if (core_.transports[to]->post(p) != outcome::done) [[unlikely]]
            keep_unposted(p, to);
    }
    // Posts those that the transport had no space for.
    void post_rest(std::size_t to) noexcept;

  private:
    packet_pool_options pool_options();
    void post_first();
    void keep_unposted(packet &p, std::size_t to) noexcept;
    bool register_slab(void *base, std::size_t size, void *(&descriptor)[2]) noexcept;

    device_core &core_;
    struct slab {
        std::size_t transport;
        memory where;
    };
    std::vector<slab> slabs_; // registered memory of packets
    packet_pool pool_;
    std::vector<std::vector<packet *>> unposted_; // packets to receive into that are not posted, by transport
};

} // namespace fult::comm::detail
