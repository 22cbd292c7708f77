// Sends and receives in progress, and unexpected messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

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
    status about; // of the message; for a send, source is the destination
    errc failure = errc::none;
    std::uint16_t endpoint = 0; // its id
    operation_kind is_a = operation_kind::other;

    void finish(errc how, callback_queue *locked) noexcept {
        failure = how;
        finished(*this, locked);
    }
};

// A receive, matched by (endpoint, source, tag). The fields that an eager message touches come first: 96
// bytes, which together with the preceding fields of a request fill two cache lines (pending.hpp).
struct receive : wildcard_item, operation {
    void *data = nullptr;
    std::size_t room = 0;
    endpoint_state *at = nullptr;
    int source = -1; // as requested; may be any_source
    std::int64_t tag = -1;
    std::size_t offered = 0; // size of the message if it was truncated
    // While a rendezvous message is transferred:
    std::uint64_t sender = 0; // the message's id at the sender
    std::uint64_t id = 0;     // the receive's id, if parts arrive
    std::size_t missing = 0;
    bool is_registered = false;
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
    status about;
    enum class form : std::uint8_t { bytes, offer, local } how = form::bytes;
    // Set when the bytes have been copied: another thread may take the message from the table before that.
    std::atomic<bool> complete{false};
    rts_body offer{};         // form::offer
    sending *local = nullptr; // form::local: a send of this rank itself
    std::size_t capacity = 0; // bytes that follow this object
    std::byte *bytes() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
};

// A send that could not complete at once, or whose message waits here for its receiver.
struct sending : operation {
    const void *data = nullptr;
    std::size_t size = 0;
    int rank = -1;
    std::uint32_t tag = 0;
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
    what.about = {what.rank, what.tag, what.size};
    what.finish(failure, locked);
}

inline constexpr unsigned most_endpoints = 1 << 12;
static_assert(most_endpoints <= 1 << 12, "match_key has 12 bits for an endpoint");

arrived *new_arrived(std::size_t payload) noexcept; // nullptr: no memory
void free_arrived(arrived *message) noexcept;

} // namespace fult::comm::detail
