// What an endpoint consists of, beside the handle that users have.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fult/comm/endpoint.hpp>

#include "comm/device.hpp"
#include "comm/match/spin.hpp"
#include "comm/match/wildcards.hpp"
#include "comm/operation.hpp"

namespace fult::comm::detail {

// Of a message that is not matched, among those of its source.
struct place_in_line {
    enum { offered, coming, here, lost } how = coming;
    status about;
    std::unique_ptr<std::byte[]> bytes;
    offer_body offer{}; // while it waits at its sender
};

using message_handler = std::function<void(const status &, std::span<const std::byte>)>;

class endpoint_state {
  public:
    // A companion carries another endpoint's collectives, so that their messages never meet the user's.
    endpoint_state(device &on, std::uint16_t id, endpoint_options how, bool is_companion = false);
    ~endpoint_state();

    device &on;
    const std::uint16_t id;
    const endpoint_options how;

    const bool is_companion;
    endpoint companion;                       // nothing for a companion
    std::atomic<bool> collective_runs{false}; // there may be one at a time
    // Of a companion once the job has lost a rank: nobody may wait there any more, and what still comes is
    // refused.
    std::atomic<bool> closed{false};

    // Throw for what a user may get wrong; `call` names the function.
    void check_rank(const char *call, int rank) const;
    void check_source(const char *call, int source, std::int64_t tag) const;

    // Matching, by table or by wildcards --------------------------------------------------------------------------
    bool has_wildcards() const noexcept { return wild_ != nullptr; }
    bool matches() const noexcept { return how.how == delivery::matched; }
    arrived *post(receive &r) noexcept;   // the message that it meets; null: it waits
    receive *arrive(arrived &m) noexcept; // the receive that it meets; null: it waits
    bool remove(receive &r) noexcept;     // takes it back
    std::optional<status> look(int source, std::int64_t tag) noexcept;
    // Receives that only a dead rank could have served, of a companion all; those from any_source where no
    // other rank is left. Linked by match_item::next.
    receive *orphans(int rank) noexcept;
    std::size_t waiting_receives() noexcept;
    arrived *take_messages() noexcept; // those that nobody has asked for, linked by match_item::next
    void drop_messages() noexcept;

    // Other deliveries: the whole message is here. Takes the bytes over.
    // False: no memory, or no slot for a task; nothing has happened.
    bool deliver(const status &about, std::unique_ptr<std::byte[]> &bytes) noexcept;
    bool deliver(const status &about, std::span<const std::byte> bytes) noexcept;
    // The same in the order of each source, of whom some messages are still being moved. Under the device's
    // lock.
    using place = place_in_line;
    place *reserve(int source) noexcept; // null: no memory
    bool deliver_in_order(const status &about, std::span<const std::byte> bytes) noexcept;
    bool deliver_ready(int source) noexcept; // after a place was filled
    bool deliver_all_ready() noexcept;
    bool has_early = false; // the device has messages for it for which there was no memory
    std::optional<message> dequeue() noexcept;

    // The messages of a queue are counted as unexpected ones are (device::account) until they are dequeued.
    bool counts() const noexcept { return how.how == delivery::queued; }
    // Under the device's lock. Whether the owner can do nothing until the next one is let in.
    bool has_run_dry() noexcept;
    void begin_coming() noexcept { ++coming_; }
    void end_coming() noexcept { --coming_; }
    // Those that were left at their senders, oldest first of each.
    std::vector<place *> offered();

  private:
    void let_go() noexcept;
    match_pattern pattern(int source, std::int64_t tag) const noexcept;
    std::unique_ptr<wildcard_matcher> wild_;
    spin queue_lock_;
    std::deque<message> queue_;
    unsigned coming_ = 0; // messages that are being moved here
    std::shared_ptr<const message_handler> handler_;
    std::unordered_map<int, std::deque<place>> behind_; // by source; the first one of each is coming
};

// For the library's own functions that are given an endpoint.
struct endpoint_access {
    // Null for an endpoint of nothing.
    static endpoint_state *state(const endpoint &e) noexcept { return e.state_.get(); }
};

} // namespace fult::comm::detail
