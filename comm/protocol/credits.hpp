// How many packets a rank may have on their way to another one, over a transport that buffers without limit:
// the receiver reports those that it has handled, and the sender waits while a window of them is unreported
// (peer::may_send).
#pragma once

#include "comm/protocol/core.hpp"

namespace fult::comm::detail {

// Under the device's lock.
class credits {
  public:
    explicit credits(device_core &core) noexcept : core_(core) {}
    credits(const credits &) = delete;
    credits &operator=(const credits &) = delete;

    // The sender:
    void credit_arrived(peer &peer, std::uint64_t count) noexcept;

    // The receiver: reports what it has handled of that rank (peer::count_handled).
    void report(peer &peer) noexcept;
    // Retries the reports for which the transport had no room.
    void retry() noexcept;
    bool is_waiting() const noexcept { return late_reports_ != 0; }

  private:
    bool send(const peer &peer, std::uint64_t count) noexcept;
    void mark_waiting() noexcept { core_.waiting.set(waiting_part::credits, is_waiting()); }

    device_core &core_;
    int late_reports_ = 0; // peers whose report waits
};

} // namespace fult::comm::detail
