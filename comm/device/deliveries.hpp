// Messages for endpoints without matching: those that wait at their senders are fetched when there is room
// for them, in the order of each source.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

struct ordered_message;

// Under the device's lock.
class deliveries {
  public:
    explicit deliveries(protocol_core &core) noexcept : core_(core) {}
    deliveries(const deliveries &) = delete;
    deliveries &operator=(const deliveries &) = delete;

    void reserve(std::size_t more); // endpoints to be attached; throws std::bad_alloc
    void detach(const endpoint_state &e) noexcept;
    // Its answer was promised. Returns false if there is no memory.
    bool rts_arrived(endpoint_state &e, const status &envelope, const rts_body &rts) noexcept;
    // Fetches what was left at its sender for lack of room, if there is room now.
    void fetch_waiting() noexcept;

    // An endpoint had no memory to deliver messages that are here; they are retried.
    void mark_undelivered() noexcept {
        core_.waiting.set(waiting_part::deliveries, true);
        core_.sleep.interrupt();
    }
    // Returns true if it was marked, and is no longer.
    bool take_undelivered() noexcept {
        const bool some = core_.waiting.has(waiting_part::deliveries);
        core_.waiting.set(waiting_part::deliveries, false);
        return some;
    }

  private:
    struct fetch_operation;

    bool has_room_for(endpoint_state &e, const status &envelope) const noexcept;
    bool fetch_waiting(endpoint_state &e) noexcept;
    void fetch(endpoint_state &e, ordered_message &message) noexcept;
    void complete_fetch(fetch_operation &f) noexcept;

    protocol_core &core_;
    std::vector<endpoint_state *> full_endpoints_; // some messages of theirs are left at their senders
};

} // namespace fult::comm::detail
