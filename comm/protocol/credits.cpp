#include "comm/protocol/credits.hpp"

#include <algorithm>
#include <cstring>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

// Another rank's number is not trusted.
void credits::credit_arrived(peer &peer, std::uint64_t count) noexcept {
    peer.uncredited_sent -= static_cast<unsigned>(std::min<std::uint64_t>(count, peer.uncredited_sent));
}

// A packet of its own, which no window holds back: else two ranks might wait for each other's.
bool credits::send(const peer &peer, std::uint64_t count) noexcept {
    const guarded_head head{{packet_head::expected, static_cast<std::uint32_t>(core_.settings.rank)},
                            core_.settings.secret};
    const credit_body body{count};
    const record_head record{static_cast<std::uint8_t>(record::credit), 0, 0, 0, sizeof body, 0};
    std::byte bytes[sizeof head + sizeof record + sizeof body];
    std::memcpy(bytes, &head, sizeof head);
    std::memcpy(bytes + peer.head_size, &record, sizeof record); // without a guard it overwrites the secret
    std::memcpy(bytes + peer.head_size + sizeof record, &body, sizeof body);
    const std::size_t size = peer.head_size + sizeof record + sizeof body;
    FULT_ASSERT(size <= peer.inject_limit, "a transport with a window injects at least these");
    return peer.route->inject(peer.rank, bytes, size) != outcome::again; // a failure is found by other sends
}

void credits::report(peer &peer) noexcept {
    const bool is_sent = peer.is_failing() || send(peer, peer.uncredited_received);
    late_reports_ += (is_sent ? 0 : 1) - (peer.credit_is_late ? 1 : 0);
    peer.credit_is_late = !is_sent;
    mark_waiting();
    if (is_sent)
        peer.uncredited_received = 0;
}

void credits::retry() noexcept {
    for (int rank = 0; late_reports_ != 0 && rank < core_.peers.size(); ++rank)
        if (peer &each = core_.peers.of(rank); each.credit_is_late)
            report(each);
}

} // namespace fult::comm::detail
