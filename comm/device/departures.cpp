#include "comm/device/departures.hpp"

#include "comm/device/endpoint_state.hpp"
#include "comm/device/liveness.hpp"
#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {

// Failure -------------------------------------------------------------------------------------------------------------

void departures::fail_scheduled() noexcept {
    while (peer *peer = core_.peers.take_failing())
        fail(*peer);
}

void departures::fail(peer &peer) noexcept {
    if (!core_.peers.mark_failed(peer))
        return;
    peer.route->forget(peer.rank); // first: what ends by this may give its memory back
    core_.sends.fail(peer);
    core_.long_messages.fail(peer);
    fail_receives(peer.rank);
    one_sided_.fail(peer.rank);
    if (!core_.peers.has_left(peer.rank))
        report_to_all(peer.rank, errc::peer_failed);
    if (liveness_)
        liveness_->spread(peer.rank);
    core_.probes.handle_departure();
}

void departures::fail_receives(int rank) noexcept {
    core_.endpoints.each([&](endpoint_state &e) {
        if (!e.matches())
            return;
        if (e.is_collective_context) {
            if (!e.has_member(rank))
                return;
            // A collective fails on all ranks: senders to this rank must not wait for it.
            e.closed.store(true, std::memory_order_release); // pairs with arrivals::post
            arrivals_.discard_all(e.take_messages());
        }
        end_receives(e.take_orphans(rank), errc::peer_failed);
    });
}

// Ends receives that were removed because only that rank, or no rank any more, could have served them.
void departures::end_receives(receive *first, errc reason) noexcept {
    while (receive *r = first) {
        first = static_cast<receive *>(r->match_item::next);
        r->envelope.source = r->endpoint_source;
        r->finish(r->source >= 0 ? reason : r->endpoint->isolation_error(), &core_.callbacks);
    }
}

// Leaving in good order -----------------------------------------------------------------------------------------------

bool departures::peer_leaves(int rank) noexcept {
    peer &peer = core_.peers.of(rank);
    if (!core_.limits_of(peer).delivers_after_close && !core_.answers.send(rank, record::leave_answer))
        return false;
    if (!core_.peers.mark_left(peer))
        return true;
    core_.probes.handle_departure();
    if (core_.refusing) // this rank leaves too, and has no receives
        return true;
    // For all endpoints at once: when a job ends this happens for each rank, and the table may be large.
    match_item *orphans = arrivals_.table().remove_if(
        match_kind::receive, [&](match_item &i) { return static_cast<receive &>(i).source == rank; });
    end_receives(static_cast<receive *>(static_cast<wildcard_item *>(orphans)), errc::peer_left);
    core_.endpoints.each([&](endpoint_state &e) {
        if (e.has_wildcards())
            end_receives(e.take_orphans(rank), errc::peer_left);
    });
    if (!core_.peers.has_failed(rank))
        report_to_all(rank, errc::peer_left);
    return true;
}

void departures::report_to_all(int rank, errc reason) noexcept {
    core_.endpoints.each([&](endpoint_state &e) { report(e, rank, reason); });
}

void departures::report(endpoint_state &e, int rank, errc reason) noexcept {
    if (e.has_end_handler() && e.has_member(rank))
        handlers_.add_end(e, rank, reason);
}

void departures::report_earlier(endpoint_state &e) noexcept {
    for (int rank = 0; rank < core_.peers.size(); ++rank)
        if (const errc reason = core_.peers.source_error(rank); reason != errc::none)
            report(e, rank, reason);
}

void departures::leave() noexcept {
    core_.refusing = true;
    arrivals_.drop_early_messages();
    core_.endpoints.each([&](endpoint_state &e) { arrivals_.discard_all(e.take_messages()); });
    core_.sends.flush_all();
    announce_leave();
}

// To those that do not know it yet: there may have been no memory to hold it.
void departures::announce_leave() noexcept {
    for (int rank = 0; rank < core_.peers.size(); ++rank)
        if (peer &each = core_.peers.of(rank); each.route && !each.leave_sent)
            each.leave_sent = core_.answers.send(rank, record::leave);
    core_.sends.flush_all();
}

bool departures::may_close() noexcept {
    announce_leave();
    for (int rank = 0; rank < core_.peers.size(); ++rank)
        if (const peer &each = core_.peers.of(rank); each.route &&
                                                     !core_.limits_of(each).delivers_after_close &&
                                                     !each.leave_answered && !each.is_failing())
            return false;
    return true;
}

} // namespace fult::comm::detail
