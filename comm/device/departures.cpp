#include "comm/device/departures.hpp"

#include "comm/device/endpoint_state.hpp"
#include "comm/device/liveness.hpp"
#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {

// Failure -------------------------------------------------------------------------------------------------------------

void departures::fail_doomed() noexcept {
    while (peer *who = core_.peers.take_doomed())
        fail(*who);
}

void departures::fail(peer &who) noexcept {
    if (!core_.peers.mark_failed(who))
        return;
    who.via->forget(who.rank); // first: what ends by this may give its memory back
    sending_.fail(who);
    rendezvous_.fail(who);
    fail_receives(who.rank);
    one_sided_.fail(who.rank);
    if (!core_.peers.has_left(who.rank))
        report_to_all(who.rank, errc::peer_failed);
    if (liveness_)
        liveness_->spread(who.rank);
    probes_.rank_has_gone();
}

void departures::fail_receives(int rank) noexcept {
    endpoints_.each([&](endpoint_state &e) {
        if (!e.matches())
            return;
        if (e.is_collective_context) {
            if (!e.has_member(rank))
                return;
            // A collective fails on all ranks: senders to this rank must not wait for it.
            e.closed.store(true, std::memory_order_release); // pairs with arrivals::post
            arrivals_.discard_all(e.take_messages());
        }
        end_receives(e.orphans(rank), errc::peer_failed);
    });
}

// Ends receives that were removed because only that rank, or no rank any more, could have served them.
void departures::end_receives(receive *first, errc why) noexcept {
    while (receive *r = first) {
        first = static_cast<receive *>(r->match_item::next);
        r->about.source = r->named;
        r->finish(r->source >= 0 ? why : r->at->why_alone(), &core_.callbacks);
    }
}

// Leaving in good order -----------------------------------------------------------------------------------------------

bool departures::peer_leaves(int rank) noexcept {
    peer &who = core_.peers.of(rank);
    if (!core_.limits_of(who).keeps && !answers_.send(rank, record::farewell))
        return false;
    if (!core_.peers.mark_left(who))
        return true;
    probes_.rank_has_gone();
    if (core_.refusing) // this rank leaves too, and has no receives
        return true;
    // For all endpoints at once: when a job ends this happens for each rank, and the table may be large.
    match_item *orphans = arrivals_.table().remove_if(
        match_kind::receive, [&](match_item &i) { return static_cast<receive &>(i).source == rank; });
    end_receives(static_cast<receive *>(static_cast<wildcard_item *>(orphans)), errc::peer_left);
    endpoints_.each([&](endpoint_state &e) {
        if (e.has_wildcards())
            end_receives(e.orphans(rank), errc::peer_left);
    });
    if (!core_.peers.has_failed(rank))
        report_to_all(rank, errc::peer_left);
    return true;
}

void departures::report_to_all(int rank, errc why) noexcept {
    endpoints_.each([&](endpoint_state &e) { report(e, rank, why); });
}

void departures::report(endpoint_state &to, int rank, errc why) noexcept {
    if (to.is_called_at_ends() && to.has_member(rank))
        handlers_.add_end(to, rank, why);
}

void departures::report_earlier(endpoint_state &e) noexcept {
    for (int rank = 0; rank < core_.peers.size(); ++rank)
        if (const errc why = core_.peers.hopeless(rank); why != errc::none)
            report(e, rank, why);
}

void departures::leave() noexcept {
    core_.refusing = true;
    arrivals_.drop_all_early();
    endpoints_.each([&](endpoint_state &e) { arrivals_.discard_all(e.take_messages()); });
    sending_.flush_all();
    announce_leave();
}

// To those that do not know it yet: there may have been no memory to hold it.
void departures::announce_leave() noexcept {
    for (int rank = 0; rank < core_.peers.size(); ++rank)
        if (peer &each = core_.peers.of(rank); each.via && !each.knows_leave)
            each.knows_leave = answers_.send(rank, record::leaving);
    sending_.flush_all();
}

bool departures::may_close() noexcept {
    announce_leave();
    for (int rank = 0; rank < core_.peers.size(); ++rank)
        if (const peer &each = core_.peers.of(rank);
            each.via && !core_.limits_of(each).keeps && !each.took_leave && !each.is_doomed())
            return false;
    return true;
}

} // namespace fult::comm::detail
