// Where a device passes on what concerns the detection of deadlocks across ranks.
#pragma once

#include <atomic>
#include <optional>

#include "comm/packets/wire.hpp"
#include "comm/protocol/probe.hpp"

namespace fult::comm::detail {

class probe_port {
  public:
    bool has_listener() const noexcept {
        return listener_.load(std::memory_order_relaxed) != nullptr;
    } // any thread

    // Under the device's lock.
    void connect(probe_listener *listener) noexcept { listener_.store(listener, std::memory_order_relaxed); }
    void probe_arrived(int source, const record_view &r) noexcept {
        if (probe_listener *listener = listener_.load(std::memory_order_relaxed))
            if (const auto body = body_as<probe_body>(r.body))
                listener->handle_probe(source, *body);
    }
    void handle_departure() noexcept {
        if (probe_listener *listener = listener_.load(std::memory_order_relaxed))
            listener->handle_departure();
    }

  private:
    std::atomic<probe_listener *> listener_{nullptr};
};

} // namespace fult::comm::detail
