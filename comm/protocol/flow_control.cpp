#include "comm/protocol/flow_control.hpp"

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

void flow_control::account(int source, std::size_t bytes) noexcept {
    peer &peer = core_.peers.of(source);
    const auto more = static_cast<std::ptrdiff_t>(bytes);
    const std::ptrdiff_t total = peer.unexpected_bytes.fetch_add(more, std::memory_order_relaxed) + more;
    if (peer.route && !peer.rts_only_requested && total > share() &&
        answers_.send(source, record::throttle)) {
        peer.rts_only_requested = true; // else retried with the next message
        ++throttled_peers_;
        FULT_ASSERT(throttled_peers_ < core_.peers.size(), "each peer is counted once, this rank never");
        waiting_.fetch_add(1, std::memory_order_relaxed);
    }
}

void flow_control::check() noexcept {
    for (int i = 0; throttled_peers_ != 0 && i < core_.peers.size(); ++i) {
        peer &peer = core_.peers.of(i);
        if (!peer.rts_only_requested || unexpected(i) > share() / 2 || !answers_.send(i, record::unthrottle))
            continue;
        peer.rts_only_requested = false;
        FULT_ASSERT(throttled_peers_ > 0);
        --throttled_peers_;
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
}

} // namespace fult::comm::detail
