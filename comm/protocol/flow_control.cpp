#include "comm/protocol/flow_control.hpp"

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

void flow_control::account(int source, std::size_t bytes) noexcept {
    peer &from = core_.peers.of(source);
    const auto more = static_cast<std::ptrdiff_t>(bytes);
    const std::ptrdiff_t total = from.unexpected.fetch_add(more, std::memory_order_relaxed) + more;
    if (from.via && !from.told_slower && total > share() && answers_.send(source, record::slower)) {
        from.told_slower = true; // else retried with the next message
        ++slowed_;
        FULT_ASSERT(slowed_ < core_.peers.size(), "each peer is counted once, this rank never");
        waiting_.fetch_add(1, std::memory_order_relaxed);
    }
}

void flow_control::check() noexcept {
    for (int i = 0; slowed_ != 0 && i < core_.peers.size(); ++i) {
        peer &from = core_.peers.of(i);
        if (!from.told_slower || unexpected(i) > share() / 2 || !answers_.send(i, record::faster))
            continue;
        from.told_slower = false;
        FULT_ASSERT(slowed_ > 0);
        --slowed_;
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
}

} // namespace fult::comm::detail
