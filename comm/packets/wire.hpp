// Wire format. A packet holds a packet_head and records; each record is a record_head, a body that depends on
// its kind, and padding to eight bytes. All hosts are little-endian and of one architecture; the magic number
// detects others.
//
// All input is validated: a packet may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

struct packet_head {
    static constexpr std::uint32_t expected = 0x33544c46; // "FLT3": changes with the format
    std::uint32_t magic = expected;
    std::uint32_t source = 0; // rank of the sender
};

// Packet head for networks on which processes outside the job could send packets. The secret is known to all
// ranks of the job and to no other process. It costs 8 bytes a packet, not a connection: a network may take a
// stranger's connection for a rank's.
struct guarded_head {
    packet_head head;
    std::uint64_t secret = 0;
};

enum class record : std::uint8_t {
    eager = 1,  // a message: the payload
    rts,        // request to send, for a message that waits at its sender: rts_body
    fin,        // the message with that id has been read: id_body
    cts,        // clear to send: send the message with that id here: cts_body (if it cannot be read remotely)
    data,       // a part of such a message: data_body, then bytes
    throttle,   // too many unexpected bytes here: send RTS only
    unthrottle, // ends `throttle`
    one_sided,  // device/one_sided_records.hpp
    leave,      // the rank's context ends: only answers follow, and data of earlier RTS
    leave_answer, // answers it, unless the transport keeps packets: all that came before has been handled
    heartbeat,    // sign of life
    probe,        // deadlock detection: protocol/probe.hpp
    credit // so many packets have been handled: credit_body. Alone in its packet (protocol/credits.hpp)
};
inline constexpr std::uint8_t last_record = static_cast<std::uint8_t>(record::credit);

// True for records that may make the receiver act. They are counted for deadlock detection.
constexpr bool is_counted(record kind) noexcept { return kind < record::heartbeat; }

struct record_head {
    std::uint8_t kind;
    std::uint8_t flags;
    std::uint16_t endpoint;
    std::uint32_t tag;
    std::uint32_t size; // bytes of the body, without padding
    std::uint32_t unused;
};
static_assert(sizeof(packet_head) == 8 && sizeof(guarded_head) == 16 && sizeof(record_head) == 16);
static_assert(!is_counted(record::heartbeat) && !is_counted(record::probe) && !is_counted(record::credit) &&
              is_counted(record::leave));

struct rts_body {
    std::uint64_t size;
    std::uint64_t id; // the sender's id
    std::uint64_t address;
    std::uint64_t key;
    std::uint64_t readable; // nonzero if address and key are valid
};
struct id_body {
    std::uint64_t id;
    std::uint64_t flags; // id_flags
};
enum id_flags : std::uint64_t {
    id_too_long = 1, // not transferred: the receive's buffer was too small, or its endpoint no longer exists
    id_no_room = 2,  // not transferred: no memory at the receiver
    id_never = 4     // not transferred: the receiver's context ends, and no receive took the message
};
struct cts_body {
    std::uint64_t id;       // the sender's
    std::uint64_t receiver; // the receiver's id of the operation
};
struct data_body {
    std::uint64_t receiver;
    std::uint64_t offset;
};

struct credit_body {
    std::uint64_t count;
};

constexpr std::size_t padded(std::size_t size) noexcept { return (size + 7) & ~std::size_t{7}; }
static_assert(padded(0) == 0 && padded(1) == 8 && padded(8) == 8);
static_assert(sizeof(rts_body) == 40 && sizeof(id_body) == 16 && sizeof(cts_body) == 16 &&
              sizeof(data_body) == 16);
constexpr std::size_t record_bytes(std::size_t body) noexcept { return sizeof(record_head) + padded(body); }

// A record within a packet.
struct record_view {
    record kind;
    std::uint8_t flags;
    std::uint16_t endpoint;
    std::uint32_t tag;
    std::span<const std::byte> body;
};

template <class Body> std::span<const std::byte> bytes_of_body(const Body &body) noexcept {
    return std::as_bytes(std::span<const Body, 1>(&body, 1));
}

// The body as a T, if it is long enough.
template <class T> std::optional<T> body_as(std::span<const std::byte> body) noexcept {
    if (body.size() < sizeof(T))
        return std::nullopt;
    T value;
    std::memcpy(&value, body.data(), sizeof value);
    return value;
}

// Iterates over the records of a packet. Ends early with ok() false if the bytes are invalid.
class record_reader {
  public:
    // `ranks`: number of ranks.
    record_reader(std::span<const std::byte> bytes, std::uint32_t ranks) noexcept;

    bool ok() const noexcept { return ok_; }
    int source() const noexcept { return static_cast<int>(source_); }
    bool at_end() const noexcept { return rest_.empty(); }
    // For packets with a guarded_head: returns true if the secret is right. Must be called before the first
    // next().
    bool pass(std::uint64_t secret) noexcept {
        const auto its = body_as<std::uint64_t>(rest_);
        ok_ = its && *its == secret; // compares one word: the time is independent of the bytes
        if (ok_)
            rest_ = rest_.subspan(sizeof *its);
        return ok_;
    }
    // Continues with the record at that offset from the beginning of the packet.
    void resume_at(std::span<const std::byte> packet, std::size_t offset) noexcept {
        FULT_ASSERT(offset <= packet.size() && ok_);
        rest_ = packet.subspan(offset);
    }
    // Reads the next record; returns false if there is none.
    bool next(record_view &r) noexcept;

  private:
    std::span<const std::byte> rest_;
    std::uint32_t source_ = 0;
    bool ok_ = true;
};

inline record_reader::record_reader(std::span<const std::byte> bytes, std::uint32_t ranks) noexcept
    : rest_(bytes) {
    const auto head = body_as<packet_head>(bytes);
    ok_ = head && head->magic == packet_head::expected && head->source < ranks;
    if (!ok_)
        return;
    source_ = head->source;
    rest_ = bytes.subspan(sizeof(packet_head));
}

inline bool record_reader::next(record_view &r) noexcept {
    if (!ok_ || rest_.empty())
        return false;
    record_head head;
    ok_ = rest_.size() >= sizeof head;
    if (!ok_)
        return false;
    std::memcpy(&head, rest_.data(), sizeof head);
    ok_ = head.kind != 0 && head.kind <= last_record && padded(head.size) <= rest_.size() - sizeof head;
    if (!ok_)
        return false;
    r.kind = static_cast<record>(head.kind);
    r.flags = head.flags;
    r.endpoint = head.endpoint;
    r.tag = head.tag;
    r.body = rest_.subspan(sizeof head, head.size);
    rest_ = rest_.subspan(record_bytes(head.size));
    FULT_ASSERT(r.body.size() == head.size);
    return true;
}

} // namespace fult::comm::detail
