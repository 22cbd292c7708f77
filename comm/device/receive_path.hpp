// Receiving: the events of the transports are handled, and packets are parsed record by record. Packets for
// whose records there is no memory are kept in order and retried.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/base/linked_queue.hpp"
#include "comm/device/arrivals.hpp"
#include "comm/device/departures.hpp"
#include "comm/device/handler_calls.hpp"
#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

// Under the device's lock, unless stated otherwise.
class receive_path {
  public:
    receive_path(protocol_core &core, arrivals &messages, one_sided &accesses, departures &ranks,
                 handler_calls &handlers) noexcept
        : core_(core), arrivals_(messages), one_sided_(accesses), departures_(ranks), handlers_(handlers) {}
    receive_path(const receive_path &) = delete;
    receive_path &operator=(const receive_path &) = delete;

    // Returns true if anything happened.
    bool poll() noexcept;
    // Retries packets that wait for memory (deferred_packets.cpp).
    void retry() noexcept;
    bool is_waiting() const noexcept { return !deferred_.empty(); }
    // Packets from outside the job, which were refused. Any thread.
    std::uint64_t refused_packets() const noexcept {
        return refused_packets_.load(std::memory_order_relaxed);
    }

  private:
    unsigned poll(std::size_t transport) noexcept;
    void handle(const event &e, std::size_t from) noexcept;
    void lost(work_request &request, std::size_t from) noexcept;
    void moved(transfer &t, bool ok) noexcept;
    void received(packet &p, std::size_t from) noexcept;
    // Return false if there is no memory for what arrived; nothing has changed then.
    bool try_packet(packet &p, std::size_t from) noexcept;
    bool handle_packet(packet &p, std::size_t from) noexcept;
    bool handle_records(record_reader &reader, packet &p) noexcept;
    bool handle_record(int source, const record_view &r) noexcept;
    bool handle_other(int source, const record_view &r) noexcept;
    bool refuse_packet(std::size_t from) noexcept;
    void prefetch(std::span<const event> packets) const noexcept;
    void prefetch(int source, std::span<const record_view> records) const noexcept;
    record_reader read(const packet &p) const noexcept;
    void defer(packet &p, std::size_t from) noexcept;
    void mark_waiting() noexcept { core_.waiting.set(waiting_part::receive_path, is_waiting()); }

    protocol_core &core_;
    arrivals &arrivals_;
    one_sided &one_sided_;
    departures &departures_;
    handler_calls &handlers_;
    unsigned silent_events_ = 0;                   // events of this poll that do not count
    linked_queue<packet, &packet::next> deferred_; // received, without memory for their records
    bool no_memory_reported_ = false;
    std::atomic<std::uint64_t> refused_packets_{0};
};

} // namespace fult::comm::detail
