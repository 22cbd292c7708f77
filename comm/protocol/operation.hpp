// Sends and receives in progress, and unexpected messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <fult/comm/layout.hpp>
#include <fult/comm/status.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/match/match_table.hpp"
#include "comm/match/wildcards.hpp"
#include "comm/packets/wire.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

class callback_queue;
class endpoint_state;
struct sending;

enum class operation_kind : std::uint8_t { other, receive, send, access };

// Base of sends and receives. The initiator keeps it and its buffer valid until `finished` is called, which
// happens once, on any thread. `finished` may free it, and must not suspend. If `locked` is not null, the
// caller holds the device's lock: user code goes there.
struct operation {
    void (*finished)(operation &, callback_queue *locked) noexcept = nullptr;
    status about; // of the message, as the endpoint numbers its ranks; for a send, source is the destination
    errc failure = errc::none;
    std::uint16_t endpoint = 0; // its id
    operation_kind is_a = operation_kind::other;
    bool is_scattered : 1 = false;  // its data is a message_source or a message_target
    bool is_renumbered : 1 = false; // a receive whose endpoint has numbers of its own for its ranks

    void finish(errc how, callback_queue *locked) noexcept {
        failure = how;
        finished(*this, locked);
    }
};

// A receive, matched by (endpoint, source, tag). The fields that an eager message touches come first: 96
// bytes, which together with the preceding fields of a request fill two cache lines (pending.hpp).
struct receive : wildcard_item, operation {
    void *data = nullptr; // if is_scattered, a message_target
    std::size_t room = 0;
    endpoint_state *at = nullptr;
    int source = -1; // as requested, its number in the job; may be any_source
    int named = -1;  // the same as the endpoint numbers its ranks
    std::int64_t tag = -1;
    std::size_t offered = 0; // size of the message if it was truncated
    // While a rendezvous message is transferred:
    std::uint64_t sender = 0; // the message's id at the sender
    std::uint64_t id = 0;     // the receive's id, if parts arrive
    std::size_t missing = 0;
    bool is_registered = false;
    int from = -1; // number in the job of the sender, also if the message was truncated
    receive *next_moving = nullptr;
    // Constructed by rendezvous::begin: most receives match an eager message and do not need these bytes.
    union {
        transfer move;
    };
    union {
        memory registered;
    };
    receive() noexcept { is_a = operation_kind::receive; }
};

// An unexpected message, or the RTS of one.
struct arrived : wildcard_message {
    status about; // its source is the number in the job
    enum class form : std::uint8_t { bytes, offer, local } how = form::bytes;
    // Set when the bytes have been copied: another thread may take the message from the table before that.
    std::atomic<bool> complete{false};
    rts_body offer{};         // form::offer
    sending *local = nullptr; // form::local: a send of this rank itself
    std::size_t capacity = 0; // bytes that follow this object
    std::byte *bytes() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
    // Bytes that it counts as unexpected: what it occupies here, so that many empty messages count, too. One
    // of this rank itself ends with its send.
    std::size_t counted() const noexcept { return how == form::local ? 0 : sizeof *this + capacity; }
};

// A send that could not complete at once, or whose message waits here for its receiver.
struct sending : operation {
    const void *data = nullptr; // if is_scattered, a message_source
    std::size_t size = 0;
    int rank = -1;  // its number in the job
    int named = -1; // the same as the endpoint numbers its ranks
    std::uint32_t tag = 0;
    bool is_synchronous = false; // ends when a receive has matched it, so its RTS is sent whatever its size
    bool is_copy = false;        // no task waits for it: the caller's bytes were copied
    record kind = record::eager; // the record to send next: eager, offer or part
    std::uint64_t id = 0;        // its id, once it has one
    bool announced = false;      // the RTS has been sent; before that no rank knows the id
    std::uint64_t receiver = 0;  // id of the receive that parts are sent to
    std::size_t done = 0;        // bytes of parts that have been sent
    memory registered;           // for an RTS whose data can be read remotely
    bool is_registered = false;
    sending *next = nullptr;
    sending() noexcept { is_a = operation_kind::send; }
};

// The bytes of a send, and of a receive, from `offset` on.
inline void read_bytes(const sending &s, std::size_t offset, std::byte *to, std::size_t size) noexcept {
    FULT_ASSERT(offset <= s.size && size <= s.size - offset);
    if (s.is_scattered)
        static_cast<const message_source *>(s.data)->read(offset, to, size);
    else if (size != 0)
        std::memcpy(to, static_cast<const std::byte *>(s.data) + offset, size);
}
inline void write_bytes(receive &r, std::size_t offset, std::span<const std::byte> bytes) noexcept {
    FULT_ASSERT(offset <= r.room && bytes.size() <= r.room - offset);
    if (bytes.empty())
        return;
    if (r.is_scattered) [[unlikely]]
        static_cast<message_target *>(r.data)->write(offset, bytes.data(), bytes.size());
    else
        std::memcpy(static_cast<std::byte *>(r.data) + offset, bytes.data(), bytes.size());
}

// Ends an operation that this rank began, a sending or an access: its id is no longer valid and its memory is
// no longer read. The object may have been freed on return.
template <class Begun, class Names>
void finish_begun(Begun &what, Names &names, transport *via, errc failure, callback_queue *locked) noexcept {
    FULT_ASSERT(what.finished && (via || !what.is_registered));
    if (what.is_registered)
        via->deregister_memory(what.registered);
    what.is_registered = false;
    if (what.id != 0)
        names.remove(what.id);
    what.id = 0;
    what.about = {what.named, what.tag, what.size};
    what.finish(failure, locked);
}

inline constexpr unsigned most_endpoints = 1 << 12;
static_assert(most_endpoints <= 1 << 12, "match_key has 12 bits for an endpoint");

arrived *new_arrived(std::size_t payload) noexcept; // nullptr: no memory
void free_arrived(arrived *message) noexcept;

} // namespace fult::comm::detail
