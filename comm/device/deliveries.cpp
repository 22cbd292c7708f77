#include "comm/device/deliveries.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "comm/device/endpoint_state.hpp"

namespace fult::comm::detail {

// A message on its way to an endpoint.
struct deliveries::fetched : receive {
    std::unique_ptr<std::byte[]> bytes;
    deliveries *by = nullptr;
    place_in_line *place = nullptr; // owned by the endpoint
    bool counted = false;
};

void deliveries::reserve(std::size_t more) { lacking_room_.reserve(endpoints_.attached() + more); }

void deliveries::detach(const endpoint_state &e) noexcept {
    flow_.add_waiting(-static_cast<int>(std::erase(lacking_room_, &e)));
}

bool deliveries::rts_arrived(endpoint_state &e, const status &about, const rts_body &offer) noexcept {
    const bool first = std::find(lacking_room_.begin(), lacking_room_.end(), &e) == lacking_room_.end();
    const bool fits = first && has_room_for(e, about);
    place_in_line *const place = e.reserve(about.source);
    if (!place)
        return false;
    place->about = about;
    place->offer = offer;
    place->how = place_in_line::offered;
    if (fits) {
        fetch(e, *place);
    } else if (first) {
        lacking_room_.push_back(&e); // has capacity for all endpoints
        flow_.add_waiting(1);
    }
    return true;
}

// A message that is longer than the share, or that others keep from fitting, is fetched when its endpoint has
// nothing else to deliver: so every dequeue loop proceeds.
bool deliveries::has_room_for(endpoint_state &e, const status &about) const noexcept {
    const std::ptrdiff_t left = flow_.share() - flow_.unexpected(about.source);
    return !e.counts() || core_.peers.has_failed(about.source) ||
           (left >= 0 && flow_control::in_queue(about) <= static_cast<std::size_t>(left)) || e.has_run_dry();
}

void deliveries::fetch_offered() noexcept {
    if (lacking_room_.empty())
        return;
    flow_.add_waiting(-static_cast<int>(
        std::erase_if(lacking_room_, [&](endpoint_state *e) { return fetch_offered(*e); })));
}

// Returns false if some of it must wait for room. Without memory, retries at the next check.
bool deliveries::fetch_offered(endpoint_state &e) noexcept {
    std::vector<place_in_line *> offered;
    try {
        offered = e.offered();
    } catch (const std::bad_alloc &) {
        return false;
    }
    int full = -1; // the source whose next message does not fit: later ones of it must wait
    for (place_in_line *each : offered) {
        if (each->about.source == full)
            continue;
        if (has_room_for(e, each->about))
            fetch(e, *each);
        else
            full = each->about.source;
    }
    return full < 0;
}

// Allocates memory for the message, which is delivered when it has arrived.
void deliveries::fetch(endpoint_state &e, place_in_line &place) noexcept {
    const status about = place.about;
    const rts_body offer = place.offer;
    std::unique_ptr<fetched> f(new (std::nothrow) fetched);
    if (f)
        f->bytes.reset(new (std::nothrow) std::byte[offer.size]);
    if (!f || !f->bytes) {
        rendezvous_.refuse(about.source, offer, id_no_room);
        place.how = place_in_line::lost;
        if (!e.deliver_ready(about.source))
            note_undelivered();
        return;
    }
    f->data = f->bytes.get();
    f->room = offer.size;
    f->at = &e;
    f->by = this;
    f->endpoint = e.id;
    f->place = &place;
    f->counted = e.counts();
    if (f->counted)
        flow_.account_in_queue(about);
    place.how = place_in_line::coming;
    e.begin_coming();
    f->finished = [](operation &op,
                     callback_queue *) noexcept { // under the device's lock: all callers hold it
        const std::unique_ptr<fetched> done(static_cast<fetched *>(&op));
        done->by->arrived_whole(*done);
    };
    rendezvous_.begin(*f.release(), about, about.source, offer);
} // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): deleted in `finished`

// The endpoint may have ended meanwhile, and its place with it.
void deliveries::arrived_whole(fetched &f) noexcept {
    endpoint_state *const to = endpoints_.find(f.endpoint);
    if (f.counted && (!to || f.failure != errc::none))
        flow_.no_longer_in_queue(f.about);
    if (!to)
        return;
    to->end_coming();
    f.place->how = f.failure == errc::none ? place_in_line::here : place_in_line::lost;
    f.place->about = f.about;
    f.place->bytes = std::move(f.bytes);
    if (!to->deliver_ready(f.about.source))
        note_undelivered();
}

} // namespace fult::comm::detail
