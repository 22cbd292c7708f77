// Sends and receives that are not complete yet, and messages that nobody has asked for yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fult/comm/status.hpp>

#include "comm/match/match_table.hpp"
#include "comm/match/wildcards.hpp"
#include "comm/transport.hpp"
#include "comm/wire.hpp"

namespace fult::comm::detail {

class endpoint_state;
struct sending;

enum class operation_kind : std::uint8_t { other, receive, send, access };

// What both directions have in common. Whoever begins one keeps it and its buffer until `finished` is called,
// which happens once, on any thread, and may free it. It must not suspend.
struct operation {
    void (*finished)(operation &) noexcept = nullptr;
    status about; // of the message; for a send, source is the destination
    errc failure = errc::none;
    std::uint16_t endpoint = 0; // its number
    operation_kind is_a = operation_kind::other;
};

// A receive. Matched by (endpoint, source, tag). What an eager message touches comes first: 96 bytes, which
// lie in two cache lines together with what a request has before them (pending.hpp).
struct receive : wildcard_item, operation {
    void *data = nullptr;
    std::size_t room = 0;
    endpoint_state *at = nullptr;
    int source = -1; // as asked for; may be any_source
    std::int64_t tag = -1;
    std::size_t offered = 0; // where truncated: the message's size
    // While a message that waited at its sender is being moved:
    std::uint64_t sender = 0; // the message's name there
    std::uint64_t id = 0;     // its own name, where parts come in
    std::size_t missing = 0;
    bool is_enrolled = false;
    receive *next_moving = nullptr;
    // Made by device::begin_move: most receives meet an eager message, and have no use for so many bytes.
    union {
        transfer move;
    };
    union {
        memory enrolled;
    };
    receive() noexcept { is_a = operation_kind::receive; }
};

// A message that has arrived before its receive, or the offer of one.
struct arrived : wildcard_message {
    status about;
    enum class form : std::uint8_t { bytes, offer, local } how = form::bytes;
    // Whether the bytes are here: who takes it from the table may come before they were copied.
    std::atomic<bool> complete{false};
    offer_body offer{};       // form::offer
    sending *local = nullptr; // form::local: of this rank itself
    std::size_t capacity = 0; // of the bytes that follow
    std::byte *bytes() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
};

// A send that could not be handed over at once, or whose message waits here for its receiver.
struct sending : operation {
    const void *data = nullptr;
    std::size_t size = 0;
    int rank = -1;
    std::uint32_t tag = 0;
    bool is_copy = false;        // nobody waits for it: the caller has gone on with its own bytes
    record kind = record::eager; // what is to be sent next: eager, offer or part
    std::uint64_t id = 0;        // its name, once it is offered
    bool announced = false;      // the offer is on its way; until then nobody can know the name
    std::uint64_t receiver = 0;  // where parts go to
    std::size_t done = 0;        // bytes of parts that are on their way
    memory enrolled;             // for an offer that can be read directly
    bool is_enrolled = false;
    sending *next = nullptr;
    sending() noexcept { is_a = operation_kind::send; }
};

// Ends what this rank began, a sending or an access: no name leads to it and nobody reads its memory any
// more. It may be gone afterwards.
template <class Begun, class Names>
void finish_begun(Begun &what, Names &names, transport *via, errc failure) noexcept {
    if (what.is_enrolled)
        via->withdraw(what.enrolled);
    what.is_enrolled = false;
    if (what.id != 0)
        names.remove(what.id);
    what.id = 0;
    what.failure = failure;
    what.about = {what.rank, what.tag, what.size};
    what.finished(what);
}

inline constexpr unsigned most_endpoints = 1 << 12;

arrived *new_arrived(std::size_t payload) noexcept; // null: no memory
void free_arrived(arrived *message) noexcept;

} // namespace fult::comm::detail
