// The packets of a device: allocated in slabs, cached in one part for each worker, never more than a fixed
// number.
//
// A worker takes the packet that it gave last, which is still in its cache. The progress engine, and workers
// whose own part is empty, take from the other end the packets that are in no cache any more. A few packets
// form the reserve: only take_for_receiving uses it, after all other sources, and packets that are given back
// refill it first. So senders alone can never keep a rank from receiving.
//
// All functions from any thread; none suspends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/packets/packet.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

struct packet_pool_options {
    std::size_t capacity = 8192; // payload bytes of a packet
    std::size_t packets = 4096;  // at most, including the reserve
    std::size_t reserve = 64;    // of these, only for receiving; fewer than `packets`
    std::size_t slab = 64;       // packets allocated at a time
    unsigned parts = 1;
    // Called with each slab's memory; sets what its packets carry in packet::descriptor. If it returns false,
    // the slab is not used, no further one is allocated, and the pool continues with what it has. withdraw is
    // called before the memory is freed. Neither may throw.
    std::function<bool(void *base, std::size_t size, void *(&descriptor)[2])> register_memory;
    std::function<void(void *base, std::size_t size, void *(&descriptor)[2])> deregister_memory;
};

class packet_pool {
  public:
    // Allocates enough slabs for the reserve, at least one. Throws std::bad_alloc, std::invalid_argument
    // (with what is wrong with the options), std::runtime_error (the first slab could not be registered).
    explicit packet_pool(packet_pool_options options);
    packet_pool(const packet_pool &) = delete;
    packet_pool &operator=(const packet_pool &) = delete;
    ~packet_pool(); // all packets must have been given back or be out of use

    // Returns the packet given last to that part, or one from elsewhere. nullptr: only the reserve is left,
    // or the remaining packets are being moved between parts by another thread's take or give. A caller that
    // waits for a packet must be woken by a give, which that other thread will call.
    packet *take(unsigned part) noexcept;
    // Returns a packet that is in no cache, if there is one. nullptr as above.
    packet *take_cold() noexcept;
    // The same, and from the reserve if nothing else is left. nullptr: all are in use.
    packet *take_for_receiving() noexcept;

    // Part: where it was used last; packet::home is set to it.
    void give(unsigned part, packet &p) noexcept;

    unsigned parts() const noexcept { return options_.parts; }
    std::size_t capacity() const noexcept { return options_.capacity; }
    // packet_pool_options::packets, or less if a slab could not be registered
    std::size_t maximum() const noexcept { return maximum_.load(std::memory_order_relaxed); }
    std::size_t made() const noexcept { return made_.load(std::memory_order_relaxed); }
    std::size_t available() const noexcept; // free, without the reserve, allocated or not; exact if idle
    std::size_t in_reserve() const noexcept;

  private:
    class part;
    struct slab;

    packet *refill(unsigned own) noexcept;
    packet *make_slab() noexcept;
    void free_slabs() noexcept;

    packet_pool_options options_;
    std::size_t stride_ = 0; // bytes from one packet to the next
    std::unique_ptr<part[]> parts_;
    part *common_ = nullptr;
    part *reserve_ = nullptr;
    std::atomic<std::size_t> made_{0};
    std::atomic<std::size_t> maximum_{0};
    fult::detail::spin_lock making_;
    std::vector<slab> slabs_; // protected by making_
    alignas(64) std::atomic<unsigned> next_victim_{0};
};

} // namespace fult::comm::detail
