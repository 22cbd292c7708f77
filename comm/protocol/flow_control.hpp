// Flow control of unexpected messages: how many bytes of memory a rank keeps for them. Beyond that their
// senders are asked to send RTS only. Also counts what enqueue keeps at the sender.
#pragma once

#include <atomic>
#include <cstddef>

#include "comm/protocol/answers.hpp"
#include "comm/protocol/operation.hpp"

namespace fult::comm::detail {

class flow_control {
  public:
    flow_control(device_core &core, answer_queue &answers) noexcept : core_(core), answers_(answers) {}
    flow_control(const flow_control &) = delete;
    flow_control &operator=(const flow_control &) = delete;

    // Any thread --------------------------------------------------------------------------------------------------

    // Bytes of a rank's unexpected messages that are held here.
    std::ptrdiff_t unexpected(int source) const noexcept {
        return core_.peers.of(source).unexpected_bytes.load(std::memory_order_relaxed);
    }
    void release_unexpected(const unexpected_message &m) noexcept {
        release(m.envelope.source, m.accounted_bytes());
    }
    // The same for a message of a queue, which counts as its bytes and its place there.
    static std::size_t queued_bytes(const status &envelope) noexcept {
        return queue_entry_bytes + envelope.size;
    }
    void release_queued(const status &envelope) noexcept { release(envelope.source, queued_bytes(envelope)); }
    // Unexpected bytes that each rank may have here.
    std::ptrdiff_t share() const noexcept {
        return static_cast<std::ptrdiff_t>(core_.settings.unexpected) / core_.settings.size;
    }
    // True if some messages wait, at their senders, for what is held here.
    bool is_throttling() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }
    // Bytes of messages that enqueue has copied and that are still held. may_copy: true if so many more may
    // be.
    std::atomic<std::size_t> &copied_bytes() noexcept { return copied_bytes_; }
    bool may_copy(std::size_t size) const noexcept {
        const std::size_t now = copied_bytes_.load(std::memory_order_relaxed);
        const std::size_t most = core_.settings.unexpected;
        return now == 0 || (now <= most && size <= most - now);
    }

    // Under the device's lock; account for this rank itself also without --------------------------------------------

    void account(const unexpected_message &m) noexcept { account(m.envelope.source, m.accounted_bytes()); }
    void account_queued(const status &envelope) noexcept { account(envelope.source, queued_bytes(envelope)); }
    // Lets those ranks go on whose messages have been taken.
    void check() noexcept;
    // Endpoints whose messages wait at their senders: so many more.
    void add_waiting(int endpoints) noexcept { waiting_.fetch_add(endpoints, std::memory_order_relaxed); }

    // At least what a queue needs for a message without bytes.
    static constexpr std::size_t queue_entry_bytes = 128;

  private:
    void account(int source, std::size_t bytes) noexcept;
    void release(int source, std::size_t bytes) noexcept {
        core_.peers.of(source).unexpected_bytes.fetch_sub(static_cast<std::ptrdiff_t>(bytes),
                                                          std::memory_order_relaxed);
    }

    device_core &core_;
    answer_queue &answers_;
    int throttled_peers_ = 0; // peers that were asked to send RTS only
    // Those, and the endpoints some of whose messages are left at their senders.
    std::atomic<int> waiting_{0};
    std::atomic<std::size_t> copied_bytes_{0};
};

} // namespace fult::comm::detail
