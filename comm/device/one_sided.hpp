// One-sided access: the regions of this rank, its operations on regions of others, and theirs on its own. The
// target's progress engine checks and performs every access; no task of the target takes part. Bytes that fit
// a packet travel with the request or its answer. The target transfers larger data directly between the
// region and the origin's memory if its transport can, else in parts. So only its own rank accesses a region,
// and knows what is in flight when the region ends. Sources: section 2.2 of PPL for the operations, section
// 5.2.6 of Dang's dissertation for their completion.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/base/id_table.hpp"
#include "comm/base/linked_queue.hpp"
#include "comm/device/arrivals.hpp"
#include "comm/device/one_sided_records.hpp"
#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

struct region_state {
    std::byte *base = nullptr;
    std::size_t size = 0;
    bool writable = false;
    std::uint64_t id = 0;
    unsigned use_count = 0; // accesses that use it, now or later, outside the device's lock
    memory registrations[2];
    bool is_registered[2] = {};

    bool contains(std::uint64_t offset, std::uint64_t length) const noexcept {
        FULT_ASSERT(base || size == 0);
        return offset <= size && length <= size - offset;
    }
};

// Sent to another rank when packets are available, in order for each rank.
struct outgoing_record {
    enum class form_kind : std::uint8_t { access, remote_access, reply } form;
    int rank = -1;
    outgoing_record *next = nullptr;
    explicit outgoing_record(form_kind f) noexcept : form(f) {}
};

// An operation of this rank.
struct access : operation, outgoing_record {
    access() noexcept : outgoing_record(form_kind::access) { type = operation_kind::access; }
    bool is_put = false;
    bool has_signal = false;
    bool is_direct = false;    // the target is to transfer the bytes itself
    bool is_announced = false; // the request has been sent; before that no rank knows the id
    int endpoint_rank = -1;    // the target's rank as the endpoint numbers them
    std::byte *local = nullptr;
    std::size_t size = 0;
    std::uint64_t region = 0;
    std::uint64_t offset = 0;
    endpoint_state *endpoint = nullptr; // only until it has begun: it may end before the access does
    std::uint32_t tag = 0;              // of the signal's message
    std::uint64_t id = 0;               // of this operation
    std::size_t bytes_sent = 0;         // bytes of a put that have been sent
    std::size_t bytes_left = 0;         // bytes of a get that have not arrived
    memory registration;
    bool is_registered = false;
};

// An operation of another rank, until it can be answered.
struct remote_access : outgoing_record {
    remote_access() noexcept : outgoing_record(form_kind::remote_access) {}
    bool is_put = false;
    bool has_signal = false;
    bool is_direct = false;      // by a transfer,
    bool is_in_transfer = false; // which is in flight
    bool is_transferred = false; // the transfer has succeeded and must be answered
    std::uint16_t endpoint = 0;
    std::uint32_t tag = 0;
    region_state *region = nullptr; // nullptr: it has ended
    access_body request{};
    origin_body origin{};
    std::size_t bytes_sent = 0; // bytes of a get that have been sent
    std::size_t index = 0;      // index in remote_accesses_
    transfer data_transfer;
    class one_sided *owner = nullptr;
};

// An answer that waits for a packet.
struct reply : outgoing_record {
    reply() noexcept : outgoing_record(form_kind::reply) {}
    one_sided_kind kind = one_sided_kind::ended;
    ended_body body{};
};

class progress_engine;

class one_sided {
  public:
    // Throws std::bad_alloc.
    one_sided(protocol_core &core, arrivals &messages, progress_engine &progress)
        : core_(core),
          arrivals_(messages),
          progress_(progress),
          queues_(static_cast<std::size_t>(core.peers.size())) {}
    ~one_sided();
    one_sided(const one_sided &) = delete;
    one_sided &operator=(const one_sided &) = delete;

    // Any thread; none of these suspends, except withdraw ------------------------------------------------------------

    void offer(region_state &r); // throws std::bad_alloc
    // No access begins any more, and those in flight have ended on return.
    void deregister_memory(region_state &r) noexcept;
    // a.finished is called, possibly before this returns.
    void begin(access &a) noexcept;

    // Under the device's lock -----------------------------------------------------------------------------------------

    // Returns false if there is no memory for it now; nothing has changed then.
    bool handle(int source, const record_view &r) noexcept;
    void prefetch(const record_view &r) const noexcept;
    // Retries what waits for packets, queue space, or memory for its signal.
    void retry() noexcept;
    bool is_waiting() const noexcept { return waiting_ != 0 || unsignaled_accesses_; }
    void fail(int rank) noexcept;
    std::size_t regions() const noexcept { return regions_.count(); }
    std::size_t access_count() const noexcept { return accesses_.count(); }

  private:
    using queue = linked_queue<outgoing_record, &outgoing_record::next>;

    void submit(outgoing_record &o) noexcept; // now, or when packets are available
    void push(outgoing_record &o) noexcept;
    void mark_waiting() noexcept { core_.waiting.set(waiting_part::one_sided, is_waiting()); }
    queue &queue_of(int rank) noexcept { return queues_[static_cast<std::size_t>(rank)]; }
    bool is_queue_empty(int rank) const noexcept { return queues_[static_cast<std::size_t>(rank)].empty(); }
    void advance(queue &queue) noexcept;
    bool step(outgoing_record &o) noexcept; // false: no free packet

    // The origin (origin.cpp):
    void begin_on_self(access &a) noexcept;
    bool step(access &a) noexcept;
    bool send_parts(access &a) noexcept;
    bool send_request(access &a) noexcept;
    access *find(std::uint64_t id, int source) noexcept;
    void handle_bytes(int source, std::span<const std::byte> body) noexcept;
    void handle_parts_request(int source, std::uint64_t id) noexcept;
    void finish(access &a, errc failure, callback_queue *callbacks) noexcept;
    void finish(access &a, errc failure) noexcept { finish(a, failure, &core_.callbacks); }

    // The target (target.cpp):
    region_state *find_region(std::uint64_t id, std::uint64_t offset, std::uint64_t size,
                              bool to_write) noexcept;
    bool handle_put(int source, const record_view &r) noexcept;
    bool handle_request(int source, const record_view &r, bool is_put) noexcept;
    bool serve(int source, const access_body &request, region_state &region, bool is_put,
               const record_view &r) noexcept;
    bool serve_immediately(int source, const access_body &request, const region_state &region) noexcept;
    bool step(remote_access &s) noexcept;
    bool start(remote_access &s) noexcept;
    bool send_bytes(remote_access &s) noexcept;
    void transfer_ended(remote_access &s, bool ok) noexcept;
    void release(remote_access &s) noexcept;
    bool end_transferred(remote_access &s) noexcept;
    void retry_signals() noexcept;
    void answer(reply &r, int rank, one_sided_kind kind, const ended_body &body) noexcept;
    // Returns false if there is no memory for it.
    bool answer(int rank, one_sided_kind kind, std::uint64_t id, bool refused = false) noexcept;
    bool send_reply(int rank, one_sided_kind kind, const ended_body &body) noexcept;
    bool signal(int source, std::uint16_t endpoint, std::uint32_t tag) noexcept;

    protocol_core &core_;
    arrivals &arrivals_;
    progress_engine &progress_;
    id_table<region_state> regions_;
    id_table<access> accesses_;
    std::vector<remote_access *> remote_accesses_;
    std::vector<queue> queues_;                    // by rank
    std::size_t waiting_ = 0;                      // number of lines that are not empty
    remote_access *unsignaled_accesses_ = nullptr; // transferred; there was no memory for their signals
};

} // namespace fult::comm::detail
