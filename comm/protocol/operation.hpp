// Sends and receives in progress, and unexpected messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
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
struct send_operation;

enum class operation_kind : std::uint8_t { other, receive, send, access };

// Base of sends and receives. The initiator keeps it and its buffer valid until `finished` is called, which
// happens once, on any thread. `finished` may free it, and must not suspend. If `callbacks` is not null, the
// caller holds the device's lock: user code goes there.
struct operation {
    void (*finished)(operation &, callback_queue *callbacks) noexcept = nullptr;
    status
        envelope; // of the message, as the endpoint numbers its ranks; for a send, source is the destination
    errc failure = errc::none;
    std::uint16_t endpoint_id = 0;
    operation_kind type = operation_kind::other;
    bool is_scattered : 1 = false;  // its data is a message_source or a message_target
    bool is_renumbered : 1 = false; // a receive whose endpoint has numbers of its own for its ranks

    void finish(errc result, callback_queue *callbacks) noexcept {
        failure = result;
        finished(*this, callbacks);
    }
};

// A receive, matched by (endpoint, source, tag). The fields that an eager message touches come first: 96
// bytes, which together with the preceding fields of a request fill two cache lines (request_state.hpp).
struct receive : wildcard_item, operation {
    void *data = nullptr; // if is_scattered, a message_target
    std::size_t room = 0;
    endpoint_state *endpoint = nullptr;
    int source = -1;          // as requested, its number in the job; may be any_source
    int endpoint_source = -1; // the same as the endpoint numbers its ranks
    std::int64_t tag = -1;
    std::size_t message_size = 0; // size of the message if it was truncated
    // While a rendezvous message is transferred:
    std::uint64_t sender_id = 0; // the message's id at the sender
    std::uint64_t id = 0;        // the receive's id, if parts arrive
    std::size_t bytes_left = 0;
    bool is_registered = false;
    int sender_rank = -1; // number in the job of the sender, also if the message was truncated
    receive *next_stalled = nullptr;
    // Constructed by rendezvous::begin: most receives match an eager message and do not need these bytes.
    union {
        transfer data_transfer;
    };
    union {
        memory registration;
    };
    receive() noexcept { type = operation_kind::receive; }
};

// An unexpected message, or the RTS of one.
struct unexpected_message : wildcard_message {
    status envelope; // its source is the number in the job
    enum class content_kind : std::uint8_t { eager, rts, local } content = content_kind::eager;
    // Set when the bytes have been copied: another thread may take the message from the table before that.
    std::atomic<bool> is_copied{false};
    rts_body rts{};                  // content_kind::rts
    send_operation *local = nullptr; // content_kind::local: a send of this rank itself
    std::size_t capacity = 0;        // bytes that follow this object
    std::byte *bytes() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
    // Bytes that it counts as unexpected: what it occupies here, so that many empty messages count, too. One
    // of this rank itself ends with its send.
    std::size_t accounted_bytes() const noexcept {
        return content == content_kind::local ? 0 : sizeof *this + capacity;
    }
};

// A send that could not complete at once, or whose message waits here for its receiver.
struct send_operation : operation {
    const void *data = nullptr; // if is_scattered, a message_source
    std::size_t size = 0;
    int rank = -1;          // its number in the job
    int endpoint_rank = -1; // the same as the endpoint numbers its ranks
    std::uint32_t tag = 0;
    bool is_synchronous = false; // ends when a receive has matched it, so its RTS is sent whatever its size
    bool is_copy = false;        // no task waits for it: the caller's bytes were copied
    record kind = record::eager; // the record to send next: eager, RTS or part
    std::uint64_t id = 0;        // its id, once it has one
    bool is_announced = false;   // the RTS has been sent; before that no rank knows the id
    std::uint64_t receiver = 0;  // id of the receive that parts are sent to
    std::size_t bytes_sent = 0;  // bytes of parts that have been sent
    memory registration;         // for an RTS whose data can be read remotely
    bool is_registered = false;
    send_operation *next = nullptr;
    send_operation() noexcept { type = operation_kind::send; }
};

// nullptr: no memory.
inline std::unique_ptr<std::byte[]> copy_of(std::span<const std::byte> bytes) noexcept {
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes.size()]);
    if (copy && !bytes.empty())
        std::memcpy(copy.get(), bytes.data(), bytes.size());
    return copy;
}

// The bytes of a send, and of a receive, from `offset` on.
inline void read_bytes(const send_operation &s, std::size_t offset, std::byte *to,
                       std::size_t size) noexcept {
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

// Ends an operation that this rank began, a send or an access: its id is no longer valid and its memory is
// no longer read. The object may have been freed on return.
template <class Operation, class Ids>
void finish_operation(Operation &op, Ids &ids, transport *route, errc failure,
                      callback_queue *callbacks) noexcept {
    FULT_ASSERT(op.finished && (route || !op.is_registered));
    if (op.is_registered)
        route->deregister_memory(op.registration);
    op.is_registered = false;
    if (op.id != 0)
        ids.remove(op.id);
    op.id = 0;
    op.envelope = {op.endpoint_rank, op.tag, op.size};
    op.finish(failure, callbacks);
}

inline constexpr unsigned max_endpoints = 1 << 12;
static_assert(max_endpoints <= 1 << 12, "match_key has 12 bits for an endpoint");

unexpected_message *allocate_message(std::size_t payload) noexcept; // nullptr: no memory
void free_message(unexpected_message *message) noexcept;

} // namespace fult::comm::detail
