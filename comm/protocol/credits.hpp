// How many packets a rank may have on their way to another one, over a transport that buffers without limit:
// the receiver reports those that it has handled, and the sender waits while a window of them is unreported.
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
    bool may_send(const peer &to) const noexcept { return to.window == 0 || to.unreported < to.window; }
    void note_sent(peer &to) noexcept { to.unreported += to.window != 0 ? 1 : 0; }
    void credit_arrived(peer &from, std::uint64_t count) noexcept;

    // The receiver: a packet of that rank, other than a credit, has been handled.
    void note_handled(peer &from) noexcept {
        if (from.window != 0 && ++from.handled >= from.window / 2)
            report(from);
    }
    // Retries the reports for which the transport had no room.
    void retry() noexcept;
    bool waits() const noexcept { return late_ != 0; }

  private:
    void report(peer &to) noexcept;
    bool send(const peer &to, std::uint64_t count) noexcept;

    device_core &core_;
    int late_ = 0; // peers whose report waits
};

} // namespace fult::comm::detail
