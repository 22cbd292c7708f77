// Ranks that leave normally. A rank whose context ends notifies all others, in order behind everything that
// it has sent them: earlier messages still match their receives, and receives that wait for more can only
// fail. Until all ranks have come so far it continues to serve its own RTS, and refuses those of others.
#include "comm/device.hpp"
#include "comm/endpoint_state.hpp"

namespace fult::comm::detail {

void device::leave() noexcept {
    device_lock hold(*this);
    refuse_messages();
    for (int rank = 0; rank < settings_.size; ++rank)
        if (peer_of(rank).via)
            tell(rank, record::leaving);
    flush_all();
}

// Under the lock.
void device::peer_leaves(int rank) noexcept {
    peer &who = peer_of(rank);
    if (who.left.exchange(true, std::memory_order_seq_cst)) // pairs with post
        return;
    if (!who.failed.load(std::memory_order_relaxed))
        departed_.fetch_add(1, std::memory_order_seq_cst); // pairs with post
    if (probe_listener *who = probes_.load(std::memory_order_relaxed))
        who->rank_has_gone();
    if (refusing_) // this rank leaves too, and has no receives
        return;
    // For all endpoints at once: when a job ends this happens for each rank, and the table may be large.
    match_item *orphans = table_.remove_if(
        match_kind::receive, [&](match_item &i) { return static_cast<receive &>(i).source == rank; });
    end_receives(static_cast<receive *>(static_cast<wildcard_item *>(orphans)), rank, errc::peer_left);
    for (unsigned i = 0; i < most_endpoints; ++i)
        if (endpoint_state *e = endpoints_[i].load(std::memory_order_acquire); e && e->has_wildcards())
            end_receives(e->orphans(rank), rank, errc::peer_left);
}

// Ends receives that were removed because only that rank, or no rank any more, could have served them.
void device::end_receives(receive *first, int rank, errc why) noexcept {
    while (receive *r = first) {
        first = static_cast<receive *>(r->match_item::next);
        r->about.source = r->source >= 0 ? rank : any_source;
        finish_receive(*r, r->source >= 0 ? why : why_alone());
    }
}

// After a collective has failed because of such a rank: this rank participates in no later one there.
void device::close(endpoint_state &collective_context) noexcept {
    device_lock hold(*this);
    collective_context.closed.store(true, std::memory_order_release); // pairs with collective_call
    collective_context.drop_messages();
    flush_all();
}

} // namespace fult::comm::detail
