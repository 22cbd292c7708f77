// Flow control of unexpected messages: how many bytes of them a rank keeps. Beyond that their senders are
// asked to send RTS only, and messages for queues, which no receive fetches, are fetched when there is space.
// Under the device's lock, unless stated otherwise.
#include <algorithm>
#include <new>

#include "comm/device.hpp"
#include "comm/endpoint_state.hpp"

namespace fult::comm::detail {

// Any thread.
void device::no_longer_unexpected(const status &about) noexcept {
    peer_of(about.source)
        .unexpected.fetch_sub(static_cast<std::ptrdiff_t>(about.size), std::memory_order_relaxed);
}

void device::account(int source, std::ptrdiff_t bytes) noexcept {
    peer &from = peer_of(source);
    const std::ptrdiff_t total = from.unexpected.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (from.via && !from.told_slower && total > share() && tell(source, record::slower)) {
        from.told_slower = true; // else retried with the next message
        ++slowed_;
    }
}

void device::check_slowed() noexcept {
    for (int i = 0; slowed_ != lacking_room_.size() && i < settings_.size; ++i) {
        peer &from = peer_of(i);
        if (!from.told_slower || unexpected(i) > share() / 2 || !tell(i, record::faster))
            continue;
        from.told_slower = false;
        --slowed_;
    }
    if (!lacking_room_.empty())
        fetch_offered();
}

void device::relieve() noexcept {
    if (slowed_.load(std::memory_order_relaxed) == 0)
        return;
    device_lock hold(*this);
    check_slowed();
    flush_all();
}

// A message that is longer than the share, or that others keep from fitting, is fetched when its endpoint has
// nothing else to deliver: so every dequeue loop proceeds.
bool device::has_room_for(endpoint_state &e, const status &about) const noexcept {
    const std::ptrdiff_t left = share() - unexpected(about.source);
    return !e.counts() || has_failed(about.source) ||
           (left >= 0 && about.size <= static_cast<std::size_t>(left)) || e.has_run_dry();
}

// Fetches what was left at its sender for lack of space. Without memory, retries at the next check.
void device::fetch_offered() noexcept {
    slowed_ -= static_cast<unsigned>(std::erase_if(lacking_room_, [&](endpoint_state *e) {
        std::vector<place_in_line *> offered;
        try {
            offered = e->offered();
        } catch (const std::bad_alloc &) {
            return false;
        }
        int full = -1; // the source whose next message does not fit: later ones of it must wait
        for (place_in_line *each : offered) {
            if (each->about.source == full)
                continue;
            if (has_room_for(*e, each->about))
                fetch(*e, *each);
            else
                full = each->about.source;
        }
        return full < 0;
    }));
}

void device::leave_at_sender(int source, const rts_body &offer) noexcept {
    device_lock hold(*this);
    refuse(source, offer, refusing_ ? id_never : id_too_long);
    flush_all();
}

// For an endpoint without receives. Returns false if there is no memory.
bool device::deliver_rts(endpoint_state &e, const status &about, const rts_body &offer) noexcept {
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
        ++slowed_;
    }
    return true;
}

// Allocates memory for the message, which is delivered when it has arrived.
void device::fetch(endpoint_state &e, place_in_line &place) noexcept {
    const status about = place.about;
    const rts_body offer = place.offer;
    struct whole : receive {
        std::unique_ptr<std::byte[]> bytes;
        device *on = nullptr;
        place_in_line *place = nullptr; // owned by the endpoint
        bool counted = false;
    };
    std::unique_ptr<whole> w(new (std::nothrow) whole);
    if (w)
        w->bytes.reset(new (std::nothrow) std::byte[offer.size]);
    if (!w || !w->bytes) {
        refuse(about.source, offer, id_no_room);
        place.how = place_in_line::lost;
        if (!e.deliver_ready(about.source))
            note_undelivered();
        return;
    }
    w->data = w->bytes.get();
    w->room = offer.size;
    w->at = &e;
    w->on = this;
    w->endpoint = e.id;
    w->place = &place;
    w->counted = e.counts();
    if (w->counted)
        account(about.source, static_cast<std::ptrdiff_t>(about.size));
    place.how = place_in_line::coming;
    e.begin_coming();
    w->finished = [](operation &op) noexcept { // under the device's lock: all callers hold it
        auto &done = static_cast<whole &>(op);
        // The endpoint may have ended meanwhile, and its place with it.
        endpoint_state *const to = done.on->endpoints_[done.endpoint].load(std::memory_order_acquire);
        if (done.counted && (!to || done.failure != errc::none))
            done.on->no_longer_unexpected(done.about);
        if (to) {
            to->end_coming();
            done.place->how = done.failure == errc::none ? place_in_line::here : place_in_line::lost;
            done.place->about = done.about;
            done.place->bytes = std::move(done.bytes);
            if (!to->deliver_ready(done.about.source))
                done.on->note_undelivered();
        }
        delete &done;
    };
    begin_move(*w.release(), about, offer);
} // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): deleted in `finished`

} // namespace fult::comm::detail
