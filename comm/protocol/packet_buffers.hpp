// The packets of a device: allocated in slabs whose memory the transports know, and never more than a fixed
// number. The transports receive into some of them from the start, the others are for sending: so senders
// alone can never keep a rank from receiving.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/packets/packet.hpp"
#include "comm/protocol/core.hpp"

namespace fult::comm::detail {

// Under the device's lock.
class packet_buffers {
  public:
    // Posts packets to all transports. Throws std::bad_alloc, std::runtime_error (there is no memory for a
    // slab, or it could not be registered).
    explicit packet_buffers(device_core &core);
    packet_buffers(const packet_buffers &) = delete;
    packet_buffers &operator=(const packet_buffers &) = delete;
    ~packet_buffers();
    // Ends the transports, which use the packets, and memory of operations in flight.
    void end_transports() noexcept;

    // To send: the one that was given last, which is still in the cache. nullptr: none is free.
    packet *take() noexcept {
        if (!free_ && !make_slab()) [[unlikely]]
            return nullptr;
        return std::exchange(free_, free_->next);
    }
    void give(packet &p) noexcept {
        FULT_ASSERT(p.capacity == core_.settings.packet_size && &p != free_);
        p.next = std::exchange(free_, &p);
    }
    // A packet that was received is free again: its transport receives into it.
    void post(packet &p, std::size_t to) noexcept {
        if (core_.transports[to]->post(p) != outcome::done) [[unlikely]]
            keep_unposted(p, to);
    }
    // Posts those that the transport had no space for.
    void post_rest(std::size_t to) noexcept;

  private:
    static constexpr std::align_val_t page{4096};
    struct slab {
        struct release {
            void operator()(std::byte *bytes) const noexcept { ::operator delete(bytes, page); }
        };
        std::unique_ptr<std::byte, release> bytes;
        memory registered[2];
        bool is_registered[2] = {};
    };

    void post_first();
    void keep_unposted(packet &p, std::size_t to) noexcept;
    bool make_slab() noexcept;
    bool register_memory(slab &s, std::size_t size) noexcept;
    void deregister_memory(slab &s) noexcept;

    device_core &core_;
    std::size_t stride_; // bytes from one packet to the next
    std::size_t made_ = 0, maximum_;
    packet *free_ = nullptr;
    std::vector<slab> slabs_;
    std::vector<std::vector<packet *>> unposted_; // packets to receive into that are not posted, by transport
};

} // namespace fult::comm::detail
