// Messages that arrived for an endpoint's handler, until it has been called; and calls for ranks that have
// ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <fult/comm/status.hpp>

#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

class handler_calls {
  public:
    explicit handler_calls(protocol_core &core) noexcept : core_(core) {}
    handler_calls(const handler_calls &) = delete;
    handler_calls &operator=(const handler_calls &) = delete;
    ~handler_calls();

    // Under the device's lock -------------------------------------------------------------------------------------

    // Messages that are added until end lie in that packet, which stays as it is until the handlers have been
    // called. end: the packet is handled, and received into again, now or then.
    void begin(packet &p) noexcept { current_ = &p; }
    void end(packet &p, std::size_t transport) noexcept {
        current_ = nullptr;
        if (p.calls == 0) [[likely]] {
            core_.packets.post(p, transport);
        } else {
            p.is_handled = true;
            p.rank = static_cast<int>(transport);
        }
    }
    void interrupt() noexcept { current_ = nullptr; } // the rest of the packet is handled later
    // Return false if there is no memory. The first one copies what lies in no packet.
    bool add(const endpoint_state &e, const status &envelope, std::span<const std::byte> bytes) noexcept;
    bool add(const endpoint_state &e, const status &envelope, std::unique_ptr<std::byte[]> &bytes) noexcept;
    // For an endpoint that is called when a rank ends: memory for so many calls. reserve throws
    // std::bad_alloc.
    void reserve_ends(std::size_t count);
    void release_ends(std::size_t count) noexcept { reserved_ends_ -= count; }
    void add_end(const endpoint_state &e, int rank, errc reason) noexcept;
    // Reuses the memory of the calls that have ended. By the thread that runs the callbacks.
    void reclaim() noexcept;

    // Without the lock ----------------------------------------------------------------------------------------------

    // After the endpoint was detached: its handler does not run any more on return, unless the caller is that
    // handler.
    void await_end_of(std::uint16_t endpoint) const noexcept;

  private:
    struct call;

    call *new_call(const endpoint_state &e, const status &envelope) noexcept;
    void prepare(call &c, const endpoint_state &e, const status &envelope) noexcept;
    void run(call &c) noexcept;

    protocol_core &core_;
    packet *current_ = nullptr;
    call *free_ = nullptr;
    call *free_ends_ = nullptr;
    // Calls for ends: those in free_ends_, and those that attached endpoints may still need.
    std::size_t spare_ends_ = 0, reserved_ends_ = 0;
    call *ended_ = nullptr; // used by the thread that runs the callbacks
    static constexpr int none = -1;
    std::atomic<int> running_{none}; // the endpoint whose handler runs
    std::atomic<const void *> runner_{nullptr};
};

} // namespace fult::comm::detail
