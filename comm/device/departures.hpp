// Ranks that are gone: peers that have failed, peers that have left in good order, and this rank as it
// leaves. A rank whose context ends notifies all others, in order behind everything that it has sent them:
// earlier messages still match their receives, and receives that wait for more can only fail. Until all ranks
// have come so far it continues to serve its own RTS, and refuses those of others.
#pragma once

#include "comm/device/arrivals.hpp"
#include "comm/device/handler_calls.hpp"
#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

class liveness;
class one_sided;

// Under the device's lock.
class departures {
  public:
    departures(protocol_core &core, arrivals &messages, one_sided &accesses, handler_calls &handlers) noexcept
        : core_(core), arrivals_(messages), one_sided_(accesses), handlers_(handlers) {}
    departures(const departures &) = delete;
    departures &operator=(const departures &) = delete;

    // What is notified of each rank that this device finds to have failed, or nullptr.
    void set_failure_listener(liveness *listener) noexcept { liveness_ = listener; }
    // Ends everything that only the doomed ranks could have completed.
    void fail_scheduled() noexcept;
    // Returns false if there is no memory for the answer; nothing has changed then.
    bool peer_leaves(int rank) noexcept;
    // Calls for ranks that have ended before the endpoint was attached.
    void report_earlier(endpoint_state &e) noexcept;
    // The context of this rank ends: it posts no more receives. Unexpected messages, and those still to come,
    // are dropped, and the other ranks are notified.
    void leave() noexcept;
    // Afterwards: true if no rank needs this one's transports to get what they have accepted. A late rank may
    // take its messages long after all others have ended.
    bool may_close() noexcept;

  private:
    void announce_leave() noexcept;
    void fail(peer &peer) noexcept;
    void fail_receives(int rank) noexcept;
    void report(endpoint_state &e, int rank, errc reason) noexcept;
    void report_to_all(int rank, errc reason) noexcept;
    void end_receives(receive *first, errc reason) noexcept;

    protocol_core &core_;
    arrivals &arrivals_;
    one_sided &one_sided_;
    handler_calls &handlers_;
    liveness *liveness_ = nullptr;
};

} // namespace fult::comm::detail
