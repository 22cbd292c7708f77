// What all parts of a device share: its settings, lock, transports and peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/protocol/callback_queue.hpp"
#include "comm/protocol/lock.hpp"
#include "comm/protocol/peer_table.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

struct device_settings {
    int rank = 0;
    int size = 1;
    std::size_t packet_size = 8192; // including the packet head
    std::size_t packets = 1024;
    std::size_t rendezvous = 0;
    std::size_t unexpected = std::size_t{256} << 20;
    bool gather = true;
    std::uint64_t secret = 0; // the job's; see wire.hpp
};

// Parts of a device that keep what cannot go on now: for lack of packets or queue space, the availability of
// which is not signaled, or of memory.
enum class waiting_part : unsigned {
    credits,
    send_path,
    answers,
    rendezvous,
    one_sided,
    receive_path,
    deliveries
};

// In which of them something waits now. Each part sets its bit after every change of what it keeps, so one
// word shows a poll that none needs a retry. Under the device's lock.
class waiting_parts {
  public:
    bool has(waiting_part part) const noexcept { return (bits_ & bit(part)) != 0; }
    bool any_for_room() const noexcept { return (bits_ & ~memory()) != 0; }
    bool any_for_memory() const noexcept { return (bits_ & memory()) != 0; }
    void set(waiting_part part, bool waits) noexcept {
        bits_ = waits ? bits_ | bit(part) : bits_ & ~bit(part);
    }

  private:
    static constexpr unsigned bit(waiting_part part) noexcept { return 1U << static_cast<unsigned>(part); }
    static constexpr unsigned memory() noexcept { // the parts that lack it
        return bit(waiting_part::receive_path) | bit(waiting_part::deliveries);
    }
    unsigned bits_ = 0;
};

struct device_core {
    // The transports are connected. route[rank] is the index of the transport to that rank, -1 for this rank.
    // Throws std::bad_alloc.
    device_core(const device_settings &settings, std::vector<std::unique_ptr<transport>> connected,
                const std::vector<int> &routes);
    device_core(const device_core &) = delete;
    device_core &operator=(const device_core &) = delete;

    const transport_limits &limits_of(const peer &p) const noexcept { return limits[p.route_index]; }

    const device_settings settings;
    alignas(64) device_mutex mutex;
    alignas(64) std::vector<std::unique_ptr<transport>> transports;
    std::vector<transport_limits> limits; // of each transport
    peer_table peers;
    callback_queue callbacks{mutex};
    // Under the device's lock.
    std::uint64_t under_way = 0; // packets and transfers handed to transports
    waiting_parts waiting;
    bool refusing = false; // this rank leaves: it posts no more receives and drops their messages
};

} // namespace fult::comm::detail
