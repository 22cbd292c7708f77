// Messages that arrive and the receives for them: each message finds its receive, or is stored until one is
// posted, or goes to an endpoint without matching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/device/deliveries.hpp"
#include "comm/match/match_table.hpp"
#include "comm/protocol/early_messages.hpp"
#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

class arrivals {
  public:
    arrivals(protocol_core &core, deliveries &fetches) noexcept : core_(core), deliveries_(fetches) {}
    arrivals(const arrivals &) = delete;
    arrivals &operator=(const arrivals &) = delete;
    ~arrivals();

    match_table &table() noexcept { return table_; }

    // Any thread, without the device's lock -------------------------------------------------------------------------

    // Posts a receive. r.finished is called, possibly before this returns.
    void post(receive &r) noexcept;
    // Receives a message that was taken from matching (endpoint_state::take).
    void receive_matched(receive &r, unexpected_message &m) noexcept { deliver(r, m); }
    // A message of this rank to itself. Throws std::bad_alloc.
    void send_to_self(endpoint_state &e, std::uint32_t tag, const void *data, std::size_t size);
    // The same for one that is too long to be copied twice: it waits for its receive, or is copied to it
    // directly.
    void send_to_self(send_operation &s) noexcept;

    // Under the device's lock ---------------------------------------------------------------------------------------

    // Eager message or RTS; one for an impossible endpoint is dropped. Returns false if there is no memory
    // for it; nothing has changed then.
    bool arrive(int source, const record_view &r) noexcept;
    // Drops a message that no receive will take.
    void discard(unexpected_message &m) noexcept;
    void discard_all(unexpected_message *first) noexcept; // linked by match_item::next
    // Delivers, in order, the messages that arrived before the endpoint was attached. Returns false if some
    // must wait for memory; those behind them wait too.
    bool admit_early_messages(endpoint_state &e) noexcept;
    void drop_early_messages(unsigned endpoint) noexcept;
    void drop_detached_messages() noexcept;
    void drop_early_messages() noexcept;
    // Retries messages that their endpoints had no memory to deliver.
    void retry_undelivered() noexcept;

    // Prefetch the entries of messages, and then their receives, which may be anywhere in memory.
    void prefetch(std::uint64_t key) const noexcept { table_.prefetch(key); }
    void prefetch_receive(std::uint64_t key) const noexcept { table_.prefetch_item(key); }

  private:
    void deliver(receive &r, unexpected_message &m) noexcept;
    void deliver_locked(receive &r, unexpected_message &m) noexcept;
    void deliver_bytes(receive &r, unexpected_message &m, callback_queue *callbacks) noexcept;
    // `callbacks` as for operation::finished.
    void fill(receive &r, status envelope, std::span<const std::byte> bytes,
              callback_queue *callbacks) noexcept;
    void fill(receive &r, status envelope, const send_operation &from, callback_queue *callbacks) noexcept;
    void fill_general(receive &r, status envelope, std::span<const std::byte> bytes,
                      callback_queue *callbacks) noexcept;
    bool deliver_to_self(endpoint_state &e, const status &envelope,
                         std::span<const std::byte> bytes) noexcept;
    bool message_arrived(endpoint_state &e, int source, const record_view &r) noexcept;
    bool rts_arrived(endpoint_state &e, int source, const record_view &r) noexcept;
    bool hold_early_message(int source, const record_view &r) noexcept;
    bool refuse_early_message(int source, const record_view &r) noexcept;
    bool admit(endpoint_state &e, unexpected_message &m) noexcept;
    unexpected_message *acquire_message(std::size_t payload) noexcept;
    void keep_spare(unexpected_message *m) noexcept;

    protocol_core &core_;
    deliveries &deliveries_;
    match_table table_;
    early_messages early_;
    unexpected_message *spare_[2] = {}; // for the next message: one short, one long
};

} // namespace fult::comm::detail
