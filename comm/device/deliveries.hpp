// Messages for endpoints without matching: those that wait at their senders are fetched when there is room
// for them, in the order of each source.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "comm/protocol/endpoint_table.hpp"
#include "comm/protocol/flow_control.hpp"
#include "comm/protocol/rendezvous.hpp"

namespace fult::comm::detail {

struct ordered_message;

// Under the device's lock.
class deliveries {
  public:
    deliveries(device_core &core, rendezvous &long_messages, flow_control &flow, endpoint_table &endpoints,
               device_sleep &sleep) noexcept
        : core_(core), rendezvous_(long_messages), flow_(flow), endpoints_(endpoints), sleep_(sleep) {}
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
        undelivered_ = true;
        sleep_.interrupt();
    }
    bool has_undelivered() const noexcept { return undelivered_; }
    bool take_undelivered() noexcept { return std::exchange(undelivered_, false); }

  private:
    struct fetch_operation;

    bool has_room_for(endpoint_state &e, const status &envelope) const noexcept;
    bool fetch_waiting(endpoint_state &e) noexcept;
    void fetch(endpoint_state &e, ordered_message &message) noexcept;
    void complete_fetch(fetch_operation &f) noexcept;

    device_core &core_;
    rendezvous &rendezvous_;
    flow_control &flow_;
    endpoint_table &endpoints_;
    device_sleep &sleep_;
    std::vector<endpoint_state *> full_endpoints_; // some messages of theirs are left at their senders
    bool undelivered_ = false;
};

} // namespace fult::comm::detail
