#include "comm/protocol/peer_table.hpp"

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

peer_table::peer_table(int size, device_mutex &mutex)
    : size_(size), mutex_(mutex), peers_(std::make_unique<peer[]>(static_cast<std::size_t>(size))) {
    FULT_ASSERT(size > 0, "this rank is one of them");
    doomed_.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank)
        of(rank).rank = rank;
}

errc peer_table::hopeless(int source) const noexcept {
    if (source < 0)
        return is_left_alone() ? why_alone() : errc::none;
    return has_failed(source) ? errc::peer_failed : has_left(source) ? errc::peer_left : errc::none;
}

bool peer_table::mark_failed(peer &who) noexcept {
    if (who.failed.exchange(true, std::memory_order_seq_cst)) // pairs with arrivals::post
        return false;
    any_failed_.store(true, std::memory_order_release); // pairs with any_failed
    if (!who.left.load(std::memory_order_relaxed))
        departed_.fetch_add(1, std::memory_order_seq_cst); // pairs with arrivals::post
    return true;
}

bool peer_table::mark_left(peer &who) noexcept {
    if (who.left.exchange(true, std::memory_order_seq_cst)) // pairs with arrivals::post
        return false;
    if (!who.failed.load(std::memory_order_relaxed))
        departed_.fetch_add(1, std::memory_order_seq_cst); // pairs with arrivals::post
    return true;
}

void peer_table::note_ended(peer &who) noexcept {
    if (!who.via || who.is_doomed() || who.ended)
        return;
    who.ended = true;
    ++ended_;
}

void peer_table::doom(peer &who) noexcept {
    if (!who.via || who.is_doomed() || ignores_failures_)
        return;
    who.doomed.store(true, std::memory_order_release); // pairs with is_lost
    FULT_ASSERT(doomed_.size() < doomed_.capacity(), "a peer is doomed once");
    doomed_.push_back(&who);
    mutex_.note_duty();
}

peer *peer_table::take_doomed() noexcept {
    if (doomed_.empty())
        return nullptr;
    peer *const who = doomed_.back();
    doomed_.pop_back();
    return who;
}

} // namespace fult::comm::detail
