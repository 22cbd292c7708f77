// State of an endpoint; users hold a handle to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fult/comm/endpoint.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/device/device.hpp"
#include "comm/device/operation.hpp"
#include "comm/match/wildcards.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// A message of an endpoint without matching, in the order of its source.
struct place_in_line {
    enum { offered, coming, here, lost } how = coming;
    status about;
    std::unique_ptr<std::byte[]> bytes;
    rts_body offer{}; // while it waits at its sender
};

using message_handler = std::function<void(const status &, std::span<const std::byte>)>;

class endpoint_state {
  public:
    // A companion is the collective context of another endpoint: its messages never match the user's
    // receives. Not attached to the device yet.
    endpoint_state(device &on, std::uint16_t id, endpoint_options how, bool is_collective_context = false);
    ~endpoint_state();

    device &on;
    const std::uint16_t id;
    const endpoint_options how;

    const bool is_collective_context;
    endpoint collective_context;              // empty for a companion
    std::atomic<bool> collective_runs{false}; // at most one at a time
    // Of a companion, set when the job has lost a rank: its waits fail, and messages that still arrive are
    // refused.
    std::atomic<bool> closed{false};

    // Throw for arguments that a user may get wrong; `call` names the function.
    void check_rank(const char *call, int rank) const;
    void check_source(const char *call, int source, std::int64_t tag) const;

    // Matching, by table or by wildcards --------------------------------------------------------------------------
    bool has_wildcards() const noexcept { return wild_ != nullptr; }
    bool matches() const noexcept { return how.how == delivery::matched; }
    arrived *post(receive &r) noexcept;   // the message that it matches; nullptr: it is posted
    receive *arrive(arrived &m) noexcept; // the receive that it matches; nullptr: it is unexpected
    bool remove(receive &r) noexcept;     // withdraws a posted receive
    std::optional<status> look(int source, std::int64_t tag) noexcept;
    // Removes receives that only a failed rank could have served: for a companion all; those from any_source
    // if no other rank is left. Linked by match_item::next.
    receive *orphans(int rank) noexcept;
    std::size_t waiting_receives() noexcept;
    arrived *take_messages() noexcept; // the unexpected messages, linked by match_item::next

    // Other deliveries: the whole message is here. Takes ownership of the bytes. Returns false if there is no
    // memory, or no slot for a task; nothing has changed then.
    // Under the device's lock, so a handler is called later.
    bool deliver(const status &about, std::unique_ptr<std::byte[]> &bytes) noexcept;
    bool deliver(const status &about, std::span<const std::byte> bytes) noexcept;
    // The same in the order of each source, some messages of which are still being transferred.
    using place = place_in_line;
    place *reserve(int source) noexcept; // nullptr: no memory
    bool deliver_in_order(const status &about, std::span<const std::byte> bytes) noexcept;
    bool deliver_ready(int source) noexcept; // after a place was filled
    bool deliver_all_ready() noexcept;
    // Without the lock, for a message of this rank itself.
    bool deliver_here(const status &about, std::span<const std::byte> bytes) noexcept;
    // Without the lock, for a message that was delivered to the handler.
    void call_handler(const status &about, std::span<const std::byte> bytes) noexcept;
    bool has_early = false; // the device holds messages for it for which there was no memory
    std::optional<message> dequeue() noexcept;

    // Messages of a queue count as unexpected (flow_control::account) until they are dequeued.
    bool counts() const noexcept { return how.how == delivery::queued; }
    // Under the device's lock. True if the owner cannot continue until the next message is admitted.
    bool has_run_dry() noexcept;
    void begin_coming() noexcept { ++coming_; }
    void end_coming() noexcept {
        FULT_ASSERT(coming_ != 0);
        --coming_;
    }
    // Messages left at their senders, oldest first of each sender.
    std::vector<place *> offered();

  private:
    void let_go() noexcept;
    match_pattern pattern(int source, std::int64_t tag) const noexcept;
    std::unique_ptr<wildcard_matcher> wild_;
    fult::detail::spin_lock queue_lock_;
    std::deque<message> queue_;
    unsigned coming_ = 0; // messages in transfer to here
    std::shared_ptr<const message_handler> handler_;
    std::unordered_map<int, std::deque<place>> behind_; // by source; the first of each is in transfer
};

// For library functions that take an endpoint.
struct endpoint_access {
    static endpoint handle_of(std::shared_ptr<endpoint_state> state) noexcept {
        return endpoint(std::move(state));
    }
    // nullptr for an empty endpoint.
    static endpoint_state *state(const endpoint &e) noexcept { return e.state_.get(); }
};

} // namespace fult::comm::detail
