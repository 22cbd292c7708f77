// State of an endpoint; users hold a handle to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fult/comm/endpoint.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/platform.hpp>

#include "comm/device/device.hpp"
#include "comm/device/members.hpp"
#include "comm/match/match_table.hpp"
#include "comm/match/wildcards.hpp"
#include "comm/protocol/operation.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// A message of an endpoint without matching, in the order of its source.
struct ordered_message {
    enum { waiting, in_transfer, complete, lost } state = in_transfer;
    status envelope;
    std::unique_ptr<std::byte[]> bytes;
    rts_body rts{}; // while it waits at its sender
};
static_assert(sizeof(ordered_message) <= flow_control::queue_entry_bytes);
static_assert(sizeof(message) <= sizeof(ordered_message), "a message that has left its line counts the same");

using message_handler = std::function<void(const status &, std::span<const std::byte>)>;

class endpoint_maker;

// What an endpoint is made with, apart from its options.
struct endpoint_origin {
    endpoint_maker *maker = nullptr;             // nullptr in tests: it makes no other endpoint
    std::shared_ptr<const member_table> members; // nullptr: the whole job
    std::shared_ptr<const void> number;          // its id is used again when nothing keeps this
};

class endpoint_state {
    const endpoint_origin from_; // the first member, so the last to end

  public:
    // A collective context belongs to another endpoint: its messages never match the user's
    // receives. Not attached to the device yet.
    endpoint_state(detail::device &device, std::uint16_t id, endpoint_options settings,
                   bool is_collective_context = false, endpoint_origin from = {});
    static void check_options(const endpoint_options &options); // throws std::invalid_argument
    ~endpoint_state();

    detail::device &device;
    const std::uint16_t id;
    std::uint64_t attachment = 0; // a number of its own among all that the device has attached
    const endpoint_options options;

    const int rank; // of this process among the endpoint's ranks
    const int size; // number of its ranks
    const bool is_collective_context;
    endpoint collective_context;              // empty for that itself
    std::atomic<bool> collective_runs{false}; // at most one at a time
    // Of a collective context, set when the job has lost a rank: its waits fail, and messages that still
    // arrive are refused.
    std::atomic<bool> closed{false};

    // Throw for arguments that a user may get wrong; `call` names the function.
    void check_rank(const char *call, int named) const {
        if (named < 0 || named >= size) [[unlikely]]
            refuse_rank(call, named);
    }
    void check_source(const char *call, int source, std::int64_t tag) const;
    // Both return the tag as messages have it.
    std::uint32_t check_destination(const char *call, int destination, std::int64_t tag) const {
        check_rank(call, destination);
        return check_tag(call, tag);
    }
    static std::uint32_t check_tag(const char *call, std::int64_t tag) {
        if (tag < 0 || tag > 0xffff'ffff) [[unlikely]]
            refuse_tag(call, tag);
        return static_cast<std::uint32_t>(tag);
    }

    // The endpoint's ranks and their numbers in the job. Messages and operations in progress are known by the
    // latter, callers by the former.
    endpoint_maker *maker() const noexcept { return from_.maker; }
    bool is_whole_job() const noexcept { return !from_.members; }
    const std::shared_ptr<const member_table> &members() const noexcept { return from_.members; }
    int world_rank(int own) const noexcept { return is_whole_job() ? own : from_.members->world(own); }
    int world_source(int own) const noexcept { return own == any_source ? own : world_rank(own); }
    int own_rank(int in_job) const noexcept { return is_whole_job() ? in_job : from_.members->find(in_job); }
    bool has_member(int in_job) const noexcept { return is_whole_job() || from_.members->find(in_job) >= 0; }
    status own(const status &envelope) const noexcept {
        return {own_rank(envelope.source), envelope.tag, envelope.size};
    }
    // "rank 2", or "rank 2 (rank 5 of the job)" if the two differ.
    std::string name_of(int own) const;

    // Why no message can come from that rank of the job, or from any_source; none if some can.
    errc source_error(int source) const noexcept {
        return is_whole_job() || source >= 0 ? device.peers().source_error(source)
               : is_isolated()               ? isolation_error()
                                             : errc::none;
    }
    errc isolation_error() const noexcept { return any_failed() ? errc::peer_failed : errc::peer_left; }
    bool any_failed() const noexcept; // of its ranks

    // Matching, by table or by wildcards --------------------------------------------------------------------------
    bool has_wildcards() const noexcept { return wildcards_ != nullptr; }
    bool matches() const noexcept { return options.delivery == delivery::matched; }
    unexpected_message *post(receive &r) noexcept;   // the message that it matches; nullptr: it is posted
    receive *arrive(unexpected_message &m) noexcept; // the receive that it matches; nullptr: it is unexpected
    bool remove(receive &r) noexcept;                // withdraws a posted receive
    std::optional<status> peek(int source, std::int64_t tag) noexcept;
    unexpected_message *take(int source,
                             std::int64_t tag) noexcept; // an unexpected message; nullptr if there is none
    // Removes receives that only a failed rank could have served: for a collective context all; those from
    // any_source if no other rank is left. Linked by match_item::next.
    receive *take_orphans(int rank) noexcept;
    std::size_t waiting_receives() noexcept;
    unexpected_message *take_messages() noexcept; // the unexpected messages, linked by match_item::next
    // Calls f(const status &) for each unexpected message, with its source's number in the job, as a callback
    // of the matching. Slow.
    template <class F> void each_message(F f) noexcept {
        if (matches())
            remove_if(match_kind::message, [&](wildcard_item &m) {
                f(std::as_const(static_cast<unexpected_message &>(m).envelope));
                return false;
            });
    }

    // Other deliveries: the whole message is here. Takes ownership of the bytes. Returns false if there is no
    // memory, or no slot for a task; nothing has changed then.
    // Under the device's lock, so a handler is called later.
    bool deliver(const status &envelope, std::unique_ptr<std::byte[]> &bytes) noexcept;
    bool deliver(const status &envelope, std::span<const std::byte> bytes) noexcept;
    // The same in the order of each source, some messages of which are still being transferred.
    ordered_message *reserve(int source) noexcept; // nullptr: no memory
    bool deliver_in_order(const status &envelope, std::span<const std::byte> bytes) noexcept;
    bool deliver_ready(int source) noexcept; // after a place was filled
    bool deliver_all_ready() noexcept;
    // Without the lock, for a message of this rank itself.
    bool deliver_to_self(const status &envelope, std::span<const std::byte> bytes) noexcept;
    // Without the lock, for a message that was delivered to the handler.
    void call_handler(const status &envelope, std::span<const std::byte> bytes) noexcept;
    // Without the lock: that rank of the job has ended.
    void call_rank_ended(int in_job, errc reason) noexcept;
    bool has_end_handler() const noexcept { return options.rank_ended != nullptr; }
    // The device holds messages for it for which there was no memory: later ones wait behind them.
    void set_early(bool some) noexcept {
        has_early_ = some;
        needs_screening_ = some || !is_whole_job();
    }
    bool has_early() const noexcept { return has_early_; }
    // Arriving messages need a closer look: for early ones, or whether their sender is a member.
    bool needs_screening() const noexcept { return needs_screening_; }
    std::optional<message> dequeue() noexcept;

    // Messages of a queue count as unexpected (flow_control::account_queued) until they are dequeued.
    bool is_accounted() const noexcept { return options.delivery == delivery::queued; }
    // Under the device's lock. True if the owner cannot continue until the next message is admitted.
    bool is_drained() noexcept;
    void count_transfer() noexcept { ++transfers_; }
    void end_transfer() noexcept {
        FULT_ASSERT(transfers_ != 0);
        --transfers_;
    }
    // Messages left at their senders, oldest first of each sender.
    std::vector<ordered_message *> waiting_at_senders();

  private:
    [[noreturn]] FULT_COLD void refuse_rank(const char *call, int named) const;
    [[noreturn]] FULT_COLD static void refuse_tag(const char *call, std::int64_t tag);
    // No handler is called for a rank behind the call for its end.
    bool is_after_end(const status &envelope) const noexcept {
        return has_end_handler() && device.has_failed(envelope.source);
    }
    bool is_isolated() const noexcept;
    void release_messages() noexcept;
    match_pattern pattern(int source, std::int64_t tag) const noexcept;
    // Removes the items of this endpoint, of that kind, for which pred is true, linked by match_item::next.
    template <class P> wildcard_item *remove_if(match_kind kind, P pred) noexcept {
        if (wildcards_)
            return wildcards_->remove_if(kind, pred);
        return static_cast<wildcard_item *>(device.matches().remove_if(
            kind, [&](match_item &i) { return i.key >> 52 == id && pred(static_cast<wildcard_item &>(i)); }));
    }
    bool has_early_ = false, needs_screening_;
    std::unique_ptr<wildcard_matcher> wildcards_;
    fult::detail::spin_lock queue_lock_;
    std::deque<message> queue_;
    unsigned transfers_ = 0; // messages in transfer to here
    std::shared_ptr<const message_handler> handler_;
    std::unordered_map<int, std::deque<ordered_message>>
        ordered_; // by source; the first of each is in transfer
};

// Matching of what is posted and of what arrives. Inline: each message passes here.

inline match_pattern endpoint_state::pattern(int source, std::int64_t tag) const noexcept {
    const auto its_rank = static_cast<std::uint32_t>(source == any_source ? 0 : source);
    return {match_key(id, its_rank, static_cast<std::uint32_t>(tag == any_tag ? 0 : tag)),
            source == any_source, tag == any_tag};
}

inline unexpected_message *endpoint_state::post(receive &r) noexcept {
    FULT_ASSERT(matches() && r.endpoint == this && r.endpoint_id == id && r.finished);
    const match_pattern p = pattern(r.source, r.tag);
    if (wildcards_)
        return static_cast<unexpected_message *>(wildcards_->post(p, r));
    return static_cast<unexpected_message *>(device.matches().access(p.key, r, match_kind::receive));
}

inline receive *endpoint_state::arrive(unexpected_message &m) noexcept {
    FULT_ASSERT(matches());
    const std::uint64_t key = match_key(id, static_cast<std::uint32_t>(m.envelope.source), m.envelope.tag);
    if (wildcards_)
        return static_cast<receive *>(wildcards_->arrive(key, m));
    return static_cast<receive *>(device.matches().access(key, m, match_kind::message));
}

// Fill in an operation; the other rank is named as the endpoint numbers its ranks.
inline void describe_send(send_operation &s, const endpoint_state &e, const void *data, std::size_t size,
                          int to, std::uint32_t tag) noexcept {
    s.data = data;
    s.size = size;
    s.rank = e.world_rank(to);
    s.endpoint_rank = to;
    s.tag = tag;
    s.endpoint_id = e.id;
}
inline void describe_receive(receive &r, endpoint_state &e, void *data, std::size_t size, int source,
                             std::int64_t tag) noexcept {
    r.data = data;
    r.room = size;
    r.endpoint = &e;
    r.endpoint_id = e.id;
    r.source = e.world_source(source);
    r.endpoint_source = source;
    r.is_renumbered = !e.is_whole_job();
    r.tag = tag;
}

// For library functions that take an endpoint.
struct endpoint_access {
    static endpoint handle_of(std::shared_ptr<endpoint_state> state) noexcept {
        return endpoint(std::move(state));
    }
    // nullptr for an empty endpoint.
    static endpoint_state *state(const endpoint &e) noexcept { return e.state_.get(); }
};

[[noreturn]] void refuse_empty_endpoint(const char *call); // throws std::invalid_argument

// For the beginning of a call: refuses an empty endpoint, and the child of a fork.
inline endpoint_state &checked_state(endpoint_state *state, const char *call) {
    fult::detail::check_not_forked();
    if (!state) [[unlikely]]
        refuse_empty_endpoint(call);
    return *state;
}
inline endpoint_state &state_of(const endpoint &e, const char *call) {
    return checked_state(endpoint_access::state(e), call);
}

} // namespace fult::comm::detail
