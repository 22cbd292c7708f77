#include "comm/protocol/rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace fult::comm::detail {
namespace {

// Removes those elements of a list for which of_it is true, and returns them.
template <class T, class OfIt> T *take_if(T *&list, T *T::*next, OfIt of_it) noexcept {
    T *each = std::exchange(list, nullptr), *gone = nullptr;
    while (each) {
        T *after = each->*next;
        T *&to = of_it(*each) ? gone : list;
        each->*next = to;
        to = each;
        each = after;
    }
    return gone;
}

} // namespace

// The sender ----------------------------------------------------------------------------------------------------------

bool rendezvous::offer(sending &s) noexcept {
    const peer &to = core_.peers.of(s.rank);
    s.kind = record::rts;
    try {
        s.id = offered_.add(s);
    } catch (const std::bad_alloc &) {
        return false;
    }
    if (core_.limits_of(to).one_sided && !s.is_scattered && s.size != 0) {
        s.registered.base = const_cast<void *>(s.data);
        s.registered.size = s.size;
        s.is_registered = to.via->register_memory_for(s.registered, access_of_others::read);
    }
    return true;
}

// Returns nullptr for an id that this rank has not sent to the other.
sending *rendezvous::announced(std::uint64_t id, int source) const noexcept {
    sending *s = offered_.find(id);
    return s && s->rank == source && s->kind == record::rts && s->announced ? s : nullptr;
}

// The receiver cannot read the message remotely, so it is sent in parts.
void rendezvous::cts_arrived(int source, const cts_body &body) noexcept {
    sending *s = announced(body.id, source);
    if (!s)
        return;
    s->kind = record::data;
    s->receiver = body.receiver;
    s->next = parts_;
    parts_ = s;
    sleep_.press();
}

void rendezvous::fin_arrived(int source, const id_body &body) noexcept {
    sending *s = announced(body.id, source);
    if (!s)
        return;
    const bool never = (body.flags & id_never) != 0;
    if (never && s->is_copy)
        note_refused({s->rank, s->tag, s->size});
    finish(*s, (body.flags & id_no_room) != 0 ? errc::retry : never ? errc::peer_left : errc::none);
}

// Returns false if there is no free packet.
bool rendezvous::send_parts(sending &s) noexcept {
    peer &to = core_.peers.of(s.rank);
    const std::size_t most = to.fills - to.head - sizeof(record_head) - sizeof(data_body);
    while (s.done < s.size) {
        const std::size_t length = std::min(most, s.size - s.done);
        const data_body body{s.receiver, s.done};
        if (!sending_.append(to, record::data, s, bytes_of_body(body), s.done, length))
            return false;
        s.done += length;
    }
    return true;
}

void rendezvous::finish(sending &s, errc failure) noexcept {
    finish_begun(s, offered_, core_.peers.of(s.rank).via, failure, &core_.callbacks);
}

void rendezvous::note_refused(const status &about) noexcept {
    if (refused_.count++ == 0)
        refused_.first = about;
}

std::string rendezvous::refused_sends() const {
    if (refused_.count == 0)
        return {};
    const status &first = refused_.first;
    return std::to_string(refused_.count) + " send(s) without a receive, the first one of " +
           std::to_string(first.size) + " bytes to rank " + std::to_string(first.source) + ", tag " +
           std::to_string(first.tag);
}

// The receiver --------------------------------------------------------------------------------------------------------

void rendezvous::end(int source, std::uint64_t id, std::uint64_t flags) noexcept {
    answers_.answer_promised(source, record::fin, id_body{id, flags});
}

void rendezvous::begin(receive &r, const status &about, int from, const rts_body &offer) noexcept {
    ::new (&r.move) transfer;
    ::new (&r.registered) memory;
    r.about = about;
    r.from = from;
    r.sender = offer.id;
    if (core_.peers.of(from).failed.load(std::memory_order_relaxed)) {
        answers_.take_back_promise();
        r.finish(errc::peer_failed, &core_.callbacks);
        return;
    }
    if (offer.size > r.room) {
        r.offered = offer.size;
        refuse(from, offer, id_too_long);
        r.finish(errc::truncated, &core_.callbacks);
        return;
    }
    if (offer.size == 0) {
        end(from, offer.id, 0);
        r.finish(errc::none, &core_.callbacks);
        return;
    }
    if (begin_transfer(r, offer))
        return;
    r.missing = offer.size;
    try {
        r.id = filling_.add(r);
    } catch (const std::bad_alloc &) {
        refuse(from, offer, id_no_room);
        r.finish(errc::retry, &core_.callbacks);
        return;
    }
    answers_.answer_promised(from, record::cts, cts_body{offer.id, r.id});
}

// Reads the data remotely. Returns false if that is not possible.
bool rendezvous::begin_transfer(receive &r, const rts_body &offer) noexcept {
    const peer &from = core_.peers.of(r.from);
    const transport_limits &limits = core_.limits_of(from);
    if (!offer.readable || !limits.one_sided || r.is_scattered)
        return false;
    r.move.kind = posted_kind::transfer;
    r.move.local = r.data;
    r.move.size = offer.size;
    r.move.address = offer.address;
    r.move.key = offer.key;
    r.move.rank = r.from;
    r.move.owner = &r;
    if (limits.local_keys) {
        r.registered.base = r.data;
        r.registered.size = offer.size;
        if (!from.via->register_memory_for(r.registered, access_of_others::none))
            return false;
        r.is_registered = true;
        r.move.descriptor = r.registered.descriptor;
    }
    transfer_now(r);
    return true;
}

void rendezvous::transfer_now(receive &r) noexcept {
    peer &from = core_.peers.of(r.move.rank);
    switch (from.via->read(r.move)) {
    case outcome::done:
        ++core_.under_way;
        return;
    case outcome::again:
        r.next_moving = stalled_;
        stalled_ = &r;
        sleep_.press();
        return;
    case outcome::failed:
        core_.peers.doom(from); // first: the receive that ends by this names a lost rank
        moved(r.move, false);
        return;
    }
}

void rendezvous::moved(transfer &t, bool well) noexcept {
    auto &r = *static_cast<receive *>(t.owner);
    if (r.is_registered)
        core_.peers.of(t.rank).via->deregister_memory(r.registered);
    r.is_registered = false;
    if (well)
        end(t.rank, r.sender, 0);
    else
        answers_.take_back_promise();
    r.finish(well ? errc::none : errc::peer_failed, &core_.callbacks);
}

void rendezvous::data_arrived(int source, const record_view &r) noexcept {
    const auto head = body_as<data_body>(r.body);
    if (!head)
        return;
    receive *to = filling_.find(head->receiver);
    const auto bytes = r.body.subspan(sizeof(data_body));
    if (!to || to->from != source || head->offset > to->about.size ||
        bytes.size() > to->about.size - head->offset || bytes.size() > to->missing)
        return;
    write_bytes(*to, head->offset, bytes);
    to->missing -= bytes.size();
    if (to->missing != 0)
        return;
    filling_.remove(to->id);
    to->finish(errc::none, &core_.callbacks);
}

// Both ----------------------------------------------------------------------------------------------------------------

void rendezvous::retry() noexcept {
    for (receive *r = std::exchange(stalled_, nullptr); r;) {
        receive *after = r->next_moving;
        transfer_now(*r);
        r = after;
    }
    for (sending *s = std::exchange(parts_, nullptr); s;) {
        sending *after = s->next;
        if (send_parts(*s)) {
            finish(*s, errc::none);
        } else {
            s->next = parts_;
            parts_ = s;
        }
        s = after;
    }
}

void rendezvous::fail(peer &who) noexcept {
    take_if(parts_, &sending::next, [&](const sending &s) { return s.rank == who.rank; }); // also in offered_
    offered_.each([&](std::uint64_t, sending &s) {
        if (s.rank == who.rank)
            finish(s, errc::peer_failed);
    });
    receive *halted =
        take_if(stalled_, &receive::next_moving, [&](const receive &r) { return r.move.rank == who.rank; });
    while (halted) {
        receive *r = std::exchange(halted, halted->next_moving);
        moved(r->move, false);
    }
    filling_.each([&](std::uint64_t id, receive &r) {
        if (r.from != who.rank)
            return;
        filling_.remove(id);
        r.finish(errc::peer_failed, &core_.callbacks);
    });
}

} // namespace fult::comm::detail
