#include "comm/protocol/peer_table.hpp"

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

peer_table::peer_table(int size, device_mutex &mutex)
    : size_(size), mutex_(mutex), peers_(std::make_unique<peer[]>(static_cast<std::size_t>(size))) {
    FULT_ASSERT(size > 0, "this rank is one of them");
    failing_.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank)
        of(rank).rank = rank;
}

errc peer_table::source_error(int source) const noexcept {
    if (source < 0)
        return is_isolated() ? isolation_error() : errc::none;
    return has_failed(source) ? errc::peer_failed : has_left(source) ? errc::peer_left : errc::none;
}

bool peer_table::mark_failed(peer &peer) noexcept {
    if (peer.failed.exchange(true, std::memory_order_seq_cst)) // pairs with arrivals::post
        return false;
    any_failed_.store(true, std::memory_order_release); // pairs with any_failed
    if (!peer.left.load(std::memory_order_relaxed))
        departed_.fetch_add(1, std::memory_order_seq_cst); // pairs with arrivals::post
    return true;
}

bool peer_table::mark_left(peer &peer) noexcept {
    if (peer.left.exchange(true, std::memory_order_seq_cst)) // pairs with arrivals::post
        return false;
    if (!peer.failed.load(std::memory_order_relaxed))
        departed_.fetch_add(1, std::memory_order_seq_cst); // pairs with arrivals::post
    return true;
}

void peer_table::mark_ended(peer &peer) noexcept {
    if (!peer.route || peer.is_failing() || peer.ended)
        return;
    peer.ended = true;
    ++ended_;
}

void peer_table::schedule_failure(peer &peer) noexcept {
    if (!peer.route || peer.is_failing() || ignores_failures_)
        return;
    peer.failing.store(true, std::memory_order_release); // pairs with is_lost
    FULT_ASSERT(failing_.size() < failing_.capacity(), "a peer is doomed once");
    failing_.push_back(&peer);
    mutex_.mark_due();
}

peer *peer_table::take_failing() noexcept {
    if (failing_.empty())
        return nullptr;
    peer *const peer = failing_.back();
    failing_.pop_back();
    return peer;
}

} // namespace fult::comm::detail
