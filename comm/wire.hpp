// What travels: a packet of the network holds a packet_head and records, each a record_head, a body by its
// kind, and padding to eight bytes. Little-endian hosts of one architecture; the magic number tells others
// apart.
//
// Everything here checks what it reads: a packet may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace fult::comm::detail {

struct packet_head {
    static constexpr std::uint32_t expected = 0x32544c46; // "FLT2": changes with the format
    std::uint32_t magic = expected;
    std::uint32_t source = 0; // the rank that sent it
};

// The head where processes that are not of the job could send packets, too. All ranks of a job know its
// secret, and nobody else. 8 bytes for each packet, not for a connection: a network may take a stranger's
// connection for a rank's.
struct guarded_head {
    packet_head head;
    std::uint64_t secret = 0;
};

enum class record : std::uint8_t {
    eager = 1, // a message: the payload
    offer,     // a message that waits at its sender: an offer_body (rendezvous, the request to send)
    taken,     // the message of that id has been read: id_body
    wanted,    // send the message of that id here: wanted_body (where nothing can be read directly)
    part,      // of such a message: part_body, then bytes
    slower,    // too much lies unexpected here: offer from now on
    faster,    // that is over
    one_sided, // one_sided/records.hpp
    leaving,   // its rank's context ends: nothing follows but answers, and what was offered before
    alive,     // nothing else to say
    probe      // whether all ranks wait: deadlock/probe.hpp
};
inline constexpr std::uint8_t last_record = static_cast<std::uint8_t>(record::probe);

// Whether it may make its receiver do something: such records are counted, to find out whether all ranks
// wait.
constexpr bool is_counted(record kind) noexcept { return kind < record::alive; }

struct record_head {
    std::uint8_t kind;
    std::uint8_t flags;
    std::uint16_t endpoint;
    std::uint32_t tag;
    std::uint32_t size; // of the body in bytes, without the padding
    std::uint32_t unused;
};
static_assert(sizeof(packet_head) == 8 && sizeof(guarded_head) == 16 && sizeof(record_head) == 16);

struct offer_body {
    std::uint64_t size;
    std::uint64_t id; // the sender's name for it
    std::uint64_t address;
    std::uint64_t key;
    std::uint64_t readable; // whether address and key are valid
};
struct id_body {
    std::uint64_t id;
    std::uint64_t flags; // id_flags
};
enum id_flags : std::uint64_t {
    id_too_long = 1, // not moved: the receive had too little room, or its endpoint is gone
    id_no_room = 2,  // not moved: no memory for it there
    id_never = 4     // not moved: the receiver's context ends, and nobody has received it
};
struct wanted_body {
    std::uint64_t id;       // the sender's
    std::uint64_t receiver; // the receiver's name for the operation
};
struct part_body {
    std::uint64_t receiver;
    std::uint64_t offset;
};

constexpr std::size_t padded(std::size_t size) noexcept { return (size + 7) & ~std::size_t{7}; }
constexpr std::size_t record_bytes(std::size_t body) noexcept { return sizeof(record_head) + padded(body); }

// A record that lies in a packet.
struct record_view {
    record kind;
    std::uint8_t flags;
    std::uint16_t endpoint;
    std::uint32_t tag;
    std::span<const std::byte> body;
};

template <class Body> std::span<const std::byte> bytes_of(const Body &body) noexcept {
    return std::as_bytes(std::span<const Body, 1>(&body, 1));
}

// The body as a T, where it is at least as long as one.
template <class T> std::optional<T> body_as(std::span<const std::byte> body) noexcept {
    if (body.size() < sizeof(T))
        return std::nullopt;
    T value;
    std::memcpy(&value, body.data(), sizeof value);
    return value;
}

// Goes through the records of a packet. Ends early, with ok() false, where the bytes make no sense.
class record_reader {
  public:
    // `ranks`: how many there are.
    record_reader(std::span<const std::byte> bytes, std::uint32_t ranks) noexcept;

    bool ok() const noexcept { return ok_; }
    int source() const noexcept { return static_cast<int>(source_); }
    bool at_end() const noexcept { return rest_.empty(); }
    // Of a packet with a guarded_head: whether it has the secret. To be called before the first record is
    // read.
    bool pass(std::uint64_t secret) noexcept {
        const auto its = body_as<std::uint64_t>(rest_);
        ok_ = its && *its == secret; // one comparison of one word: its time says nothing of the bytes
        if (ok_)
            rest_ = rest_.subspan(sizeof *its);
        return ok_;
    }
    // From that record on, which begins so many bytes behind the packet's begin.
    void go_on_at(std::span<const std::byte> packet, std::size_t offset) noexcept {
        rest_ = packet.subspan(offset);
    }
    // The next record; false: there is none.
    bool next(record_view &r) noexcept;

  private:
    std::span<const std::byte> rest_;
    std::uint32_t source_ = 0;
    bool ok_ = true;
};

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
    return true;
}

} // namespace fult::comm::detail
