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

struct place_in_line;

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
    bool rts_arrived(endpoint_state &e, const status &about, const rts_body &offer) noexcept;
    // Fetches what was left at its sender for lack of room, if there is room now.
    void fetch_offered() noexcept;

    // An endpoint had no memory to deliver messages that are here; they are retried.
    void note_undelivered() noexcept {
        undelivered_ = true;
        sleep_.press();
    }
    bool has_undelivered() const noexcept { return undelivered_; }
    bool take_undelivered() noexcept { return std::exchange(undelivered_, false); }

  private:
    struct fetched;

    bool has_room_for(endpoint_state &e, const status &about) const noexcept;
    bool fetch_offered(endpoint_state &e) noexcept;
    void fetch(endpoint_state &e, place_in_line &place) noexcept;
    void arrived_whole(fetched &f) noexcept;

    device_core &core_;
    rendezvous &rendezvous_;
    flow_control &flow_;
    endpoint_table &endpoints_;
    device_sleep &sleep_;
    std::vector<endpoint_state *> lacking_room_; // some messages of theirs are left at their senders
    bool undelivered_ = false;
};

} // namespace fult::comm::detail
