// The packets of a device: made in slabs, kept in a part for each worker, never more than a fixed number.
//
// A worker takes the packet that it gave last, which is still in its cache; the server and workers whose own
// part is empty take the other end, the packets that nobody's cache holds any more. A few packets are set
// apart as the reserve: only take_for_receiving dips into it, after everything else, and whatever is given
// back fills it up first. So senders alone can never keep a rank from receiving.
//
// All functions from any thread; none suspends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/match/spin.hpp"
#include "comm/packet.hpp"

namespace fult::comm::detail {

struct packet_pool_options {
    std::size_t capacity = 8192; // bytes that a packet holds
    std::size_t packets = 4096;  // at most, the reserve included
    std::size_t reserve = 64;    // of these, only for receiving; fewer than `packets`
    std::size_t slab = 64;       // packets made at a time
    unsigned parts = 1;
    // Called with each slab's memory; fills in what its packets carry in packet::descriptor. False: the slab
    // is not used, and no further one is made: the pool goes on with what it has. And the same before the
    // memory is freed. Neither may throw.
    std::function<bool(void *base, std::size_t size, void *(&descriptor)[2])> enroll;
    std::function<void(void *base, std::size_t size, void *(&descriptor)[2])> withdraw;
};

class packet_pool {
  public:
    // Makes as many slabs as the reserve takes, at least one. Throws std::bad_alloc, std::invalid_argument
    // (which says what is wrong with the options), std::runtime_error (the first slab could not be
    // registered).
    explicit packet_pool(packet_pool_options options);
    packet_pool(const packet_pool &) = delete;
    packet_pool &operator=(const packet_pool &) = delete;
    ~packet_pool(); // all packets must have been given back or be out of use

    // The packet given last to that part, else one from elsewhere. Null: only the reserve is left, or what is
    // left is on its way between parts under another thread's take or give. Whoever waits for a packet is to
    // be woken by a give, and that other thread's comes.
    packet *take(unsigned part) noexcept;
    // One that is in nobody's cache, as far as there are such. Null: likewise.
    packet *take_cold() noexcept;
    // The same, and from the reserve where nothing else is left. Null: all are in use.
    packet *take_for_receiving() noexcept;

    // Part: where it was used last; packet::home is set to it.
    void give(unsigned part, packet &p) noexcept;

    unsigned parts() const noexcept { return options_.parts; }
    std::size_t capacity() const noexcept { return options_.capacity; }
    // packet_pool_options::packets, or less where a slab could not be registered
    std::size_t maximum() const noexcept { return maximum_.load(std::memory_order_relaxed); }
    std::size_t made() const noexcept { return made_.load(std::memory_order_relaxed); }
    std::size_t available() const noexcept; // free ones without the reserve, made or not; exact when quiet
    std::size_t in_reserve() const noexcept;

  private:
    class part;
    struct slab;

    packet *refill(unsigned own) noexcept;
    packet *make_slab() noexcept;
    void free_slabs() noexcept;

    packet_pool_options options_;
    std::size_t stride_ = 0; // from one packet to the next
    std::unique_ptr<part[]> parts_;
    part *common_ = nullptr;
    part *reserve_ = nullptr;
    std::atomic<std::size_t> made_{0};
    std::atomic<std::size_t> maximum_{0};
    spin making_;
    std::vector<slab> slabs_; // under making_
    alignas(64) std::atomic<unsigned> next_victim_{0};
};

} // namespace fult::comm::detail
