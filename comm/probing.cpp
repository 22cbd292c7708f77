// A device's part in the detection of deadlocks across ranks. None of it counts as progress: a thread that
// sleeps for the device is not woken.
#include "comm/device.hpp"
#include "comm/one_sided/one_sided.hpp"

namespace fult::comm::detail {

// Holds the lock briefly, and leaves no work behind.
class inspection {
  public:
    explicit inspection(device &d) noexcept : device_(d) {
        device_.inspections_.fetch_add(
            1, std::memory_order_relaxed); // before the lock: pairs with lock_to_sleep
        device_.lock();
    }
    ~inspection() {
        device_.unlock();
        device_.inspections_.fetch_sub(1, std::memory_order_relaxed);
    }
    inspection(const inspection &) = delete;
    inspection &operator=(const inspection &) = delete;

  private:
    device &device_;
};

// Returns false if another thread makes progress.
bool device::lock_to_sleep() noexcept {
    if (try_lock())
        return true;
    if (inspections_.load(std::memory_order_relaxed) == 0)
        return false;
    lock();
    return true;
}

bool device::transports_may_sleep() noexcept {
    for (const auto &each : transports_)
        if (!each->may_sleep())
            return false;
    return true;
}

void device::hear_probes(probe_listener *who) noexcept {
    const inspection hold(*this);
    probes_.store(who, std::memory_order_relaxed);
}

void device::ignore_failures() noexcept {
    const inspection hold(*this);
    ignores_failures_ = true;
}

device_traffic device::look_at_traffic() noexcept {
    const inspection hold(*this);
    device_traffic all;
    all.is_calm = !needs_room() && !needs_memory() && under_way_ == 0 && one_sided_->pending() == 0 &&
                  filling_.count() == 0 && doomed_.empty();
    for (const peer *each = open_; each; each = each->next_open)
        all.is_calm = all.is_calm && (!each->open || each->open->size == 0);
    for (int rank = 0; rank < settings_.size; ++rank)
        if (const peer &each = peer_of(rank); !each.failed.load(std::memory_order_relaxed)) {
            all.sent += each.sent;
            all.received += each.received;
        }
    return all;
}

bool device::send_probe(int rank, const probe_body &body) noexcept {
    const inspection hold(*this);
    peer &to = peer_of(rank);
    if (to.doomed)
        return true;
    if (!flush(to) || !append(to, record::probe, 0, 0, 0, bytes_of(body)))
        return to.doomed;
    to.open->is_silent = true; // until other records join it
    if (!flush(to))
        press();
    if (to.open)
        to.open->is_silent = false;
    return true;
}

} // namespace fult::comm::detail
