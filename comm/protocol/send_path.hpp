// Sending: records are gathered in one packet for each rank, and packets are handed to the transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "comm/packets/wire.hpp"
#include "comm/protocol/core.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/protocol/packet_buffers.hpp"
#include "comm/protocol/sleep.hpp"

namespace fult::comm::detail {

// Under the device's lock, unless stated otherwise.
class send_path {
  public:
    send_path(device_core &core, packet_buffers &packets, device_sleep &sleep) noexcept
        : core_(core), packets_(packets), sleep_(sleep) {}
    send_path(const send_path &) = delete;
    send_path &operator=(const send_path &) = delete;

    // Payload bytes that fit one packet. Any thread.
    std::size_t eager_limit(int rank) const noexcept;

    // Appends a record to the rank's open packet. Returns false if there is no free packet.
    bool append(peer &peer, record kind, std::uint8_t flags, std::uint16_t endpoint, std::uint32_t tag,
                std::span<const std::byte> first, std::span<const std::byte> second = {}) noexcept;
    // The same with a body of fixed size as the first part.
    template <class Body>
    bool append_body(peer &peer, record kind, std::uint8_t flags, std::uint16_t endpoint, std::uint32_t tag,
                     const Body &body, std::span<const std::byte> bytes = {}) noexcept {
        std::byte *const at = reserve_record(peer, kind, flags, endpoint, tag, sizeof body + bytes.size());
        if (!at)
            return false;
        std::memcpy(at, &body, sizeof body);
        if (!bytes.empty())
            std::memcpy(at + sizeof body, bytes.data(), bytes.size());
        return true;
    }
    // The same with bytes of a message in place of the second part.
    bool append(peer &peer, record kind, const send_operation &s, std::span<const std::byte> first,
                std::size_t offset, std::size_t size) noexcept;
    // Hands the open packet to the transport. Returns false if that, or the peer's window, has no space now.
    bool flush(peer &peer) noexcept;
    void flush_all() noexcept;
    // Small messages are gathered while this worker has other tasks to run. An idle receiver gets a few
    // early: then both ranks work at the same time. `copied`: the bytes that a message which was just copied
    // to the packet takes at its receiver. Returns true if those since the last poll are so many that a
    // request to send less may wait unseen: the caller polls.
    bool flush_unless_others_run(peer &peer, std::size_t copied = 0) noexcept;
    // Tasks may have been woken: the next send checks again whether others are ready.
    void reset_ready_check() noexcept { sends_until_check_ = 0; }
    void count_poll() noexcept { bytes_since_poll_ = 0; }
    // Sends a record that is not counted (wire.hpp), in a packet of its own. Returns false if there is no
    // free packet or no space.
    bool send_silently(peer &peer, record kind, std::span<const std::byte> body) noexcept;

    // Sends the message or its RTS, behind the earlier ones to that rank, when packets are free.
    void queue(send_operation &s) noexcept;
    // Ends a message that is not sent, or is sent whole.
    void end(send_operation &s, errc failure) noexcept;
    // Drops what is not sent to that rank, and ends its messages that wait for packets.
    void fail(peer &peer) noexcept;
    // Retries the messages that wait for packets.
    void retry() noexcept;
    bool is_waiting() const noexcept { return blocked_ != nullptr; }

    bool has_open_packets() const noexcept { return open_ != nullptr; }
    // True if gathered records have not been sent.
    bool has_gathered_records() const noexcept;

  private:
    packet *free_packet() noexcept;
    std::byte *reserve_record(peer &peer, record kind, std::uint8_t flags, std::uint16_t endpoint,
                              std::uint32_t tag, std::size_t body) noexcept;
    void list_open(peer &peer) noexcept;
    bool write(send_operation &s) noexcept;
    void advance(peer &peer) noexcept;
    void mark_waiting() noexcept { core_.waiting.set(waiting_part::send_path, is_waiting()); }

    device_core &core_;
    packet_buffers &packets_;
    device_sleep &sleep_;
    peer *open_ = nullptr;    // peers with an open packet that was not empty when it was last looked at
    peer *blocked_ = nullptr; // those with sends that wait for packets
    std::size_t bytes_since_poll_ = 0; // bytes that messages take at their receivers
    unsigned sends_until_check_ = 0;   // sends until it is checked again whether other tasks are ready
};

} // namespace fult::comm::detail
