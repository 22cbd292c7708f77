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

bool rendezvous::offer(send_operation &s) noexcept {
    const peer &peer = core_.peers.of(s.rank);
    s.kind = record::rts;
    try {
        s.id = offers_.add(s);
    } catch (const std::bad_alloc &) {
        return false;
    }
    if (core_.limits_of(peer).one_sided && !s.is_scattered && s.size != 0) {
        s.registration.base = const_cast<void *>(s.data);
        s.registration.size = s.size;
        s.is_registered = peer.route->register_memory(s.registration, access_rights::read);
    }
    return true;
}

// Returns nullptr for an id that this rank has not sent to the other.
send_operation *rendezvous::find_offer(std::uint64_t id, int source) const noexcept {
    send_operation *s = offers_.find(id);
    return s && s->rank == source && s->kind == record::rts && s->is_announced ? s : nullptr;
}

// The receiver cannot read the message remotely, so it is sent in parts.
void rendezvous::cts_arrived(int source, const cts_body &body) noexcept {
    send_operation *s = find_offer(body.id, source);
    if (!s)
        return;
    s->kind = record::data;
    s->receiver = body.receiver;
    s->next = partial_sends_;
    partial_sends_ = s;
    mark_waiting();
    sleep_.interrupt();
}

void rendezvous::fin_arrived(int source, const id_body &body) noexcept {
    send_operation *s = find_offer(body.id, source);
    if (!s)
        return;
    const bool never = (body.flags & id_never) != 0;
    if (never && s->is_copy)
        count_refusal({s->rank, s->tag, s->size});
    finish(*s, (body.flags & id_no_room) != 0 ? errc::retry : never ? errc::peer_left : errc::none);
}

// Returns false if there is no free packet.
bool rendezvous::send_parts(send_operation &s) noexcept {
    peer &peer = core_.peers.of(s.rank);
    const std::size_t most = peer.fill_limit - peer.head_size - sizeof(record_head) - sizeof(data_body);
    while (s.bytes_sent < s.size) {
        const std::size_t length = std::min(most, s.size - s.bytes_sent);
        const data_body body{s.receiver, s.bytes_sent};
        if (!send_path_.append(peer, record::data, s, bytes_of_body(body), s.bytes_sent, length))
            return false;
        s.bytes_sent += length;
    }
    return true;
}

void rendezvous::finish(send_operation &s, errc failure) noexcept {
    finish_operation(s, offers_, core_.peers.of(s.rank).route, failure, &core_.callbacks);
}

void rendezvous::count_refusal(const status &envelope) noexcept {
    if (refusals_.count++ == 0)
        refusals_.first = envelope;
}

std::string rendezvous::describe_refusals() const {
    if (refusals_.count == 0)
        return {};
    const status &first = refusals_.first;
    return std::to_string(refusals_.count) + " send(s) without a receive, the first one of " +
           std::to_string(first.size) + " bytes to rank " + std::to_string(first.source) + ", tag " +
           std::to_string(first.tag);
}

// The receiver --------------------------------------------------------------------------------------------------------

void rendezvous::send_fin(int source, std::uint64_t id, std::uint64_t flags) noexcept {
    answers_.answer_reserved(source, record::fin, id_body{id, flags});
}

void rendezvous::begin(receive &r, const status &envelope, int from, const rts_body &rts) noexcept {
    ::new (&r.data_transfer) transfer;
    ::new (&r.registration) memory;
    r.envelope = envelope;
    r.sender_rank = from;
    r.sender_id = rts.id;
    if (core_.peers.of(from).failed.load(std::memory_order_relaxed)) {
        answers_.release_reservation();
        r.finish(errc::peer_failed, &core_.callbacks);
        return;
    }
    if (rts.size > r.room) {
        r.message_size = rts.size;
        refuse(from, rts, id_too_long);
        r.finish(errc::truncated, &core_.callbacks);
        return;
    }
    if (rts.size == 0) {
        send_fin(from, rts.id, 0);
        r.finish(errc::none, &core_.callbacks);
        return;
    }
    if (begin_transfer(r, rts))
        return;
    r.bytes_left = rts.size;
    try {
        r.id = partial_receives_.add(r);
    } catch (const std::bad_alloc &) {
        refuse(from, rts, id_no_room);
        r.finish(errc::retry, &core_.callbacks);
        return;
    }
    answers_.answer_reserved(from, record::cts, cts_body{rts.id, r.id});
}

// Reads the data remotely. Returns false if that is not possible.
bool rendezvous::begin_transfer(receive &r, const rts_body &rts) noexcept {
    const peer &peer = core_.peers.of(r.sender_rank);
    const transport_limits &limits = core_.limits_of(peer);
    if (!rts.readable || !limits.one_sided || r.is_scattered)
        return false;
    r.data_transfer.kind = request_kind::transfer;
    r.data_transfer.local = r.data;
    r.data_transfer.size = rts.size;
    r.data_transfer.address = rts.address;
    r.data_transfer.key = rts.key;
    r.data_transfer.rank = r.sender_rank;
    r.data_transfer.owner = &r;
    if (limits.local_keys) {
        r.registration.base = r.data;
        r.registration.size = rts.size;
        if (!peer.route->register_memory(r.registration, access_rights::none))
            return false;
        r.is_registered = true;
        r.data_transfer.descriptor = r.registration.descriptor;
    }
    start_transfer(r);
    return true;
}

void rendezvous::start_transfer(receive &r) noexcept {
    peer &peer = core_.peers.of(r.data_transfer.rank);
    switch (peer.route->read(r.data_transfer)) {
    case outcome::done:
        ++core_.under_way;
        return;
    case outcome::again:
        r.next_stalled = stalled_receives_;
        stalled_receives_ = &r;
        mark_waiting();
        sleep_.interrupt();
        return;
    case outcome::failed:
        core_.peers.schedule_failure(peer); // first: the receive that ends by this names a lost rank
        transfer_ended(r.data_transfer, false);
        return;
    }
}

void rendezvous::transfer_ended(transfer &t, bool ok) noexcept {
    auto &r = *static_cast<receive *>(t.owner);
    if (r.is_registered)
        core_.peers.of(t.rank).route->deregister_memory(r.registration);
    r.is_registered = false;
    if (ok)
        send_fin(t.rank, r.sender_id, 0);
    else
        answers_.release_reservation();
    r.finish(ok ? errc::none : errc::peer_failed, &core_.callbacks);
}

void rendezvous::data_arrived(int source, const record_view &r) noexcept {
    const auto head = body_as<data_body>(r.body);
    if (!head)
        return;
    receive *to = partial_receives_.find(head->receiver);
    const auto bytes = r.body.subspan(sizeof(data_body));
    if (!to || to->sender_rank != source || head->offset > to->envelope.size ||
        bytes.size() > to->envelope.size - head->offset || bytes.size() > to->bytes_left)
        return;
    write_bytes(*to, head->offset, bytes);
    to->bytes_left -= bytes.size();
    if (to->bytes_left != 0)
        return;
    partial_receives_.remove(to->id);
    to->finish(errc::none, &core_.callbacks);
}

// Both ----------------------------------------------------------------------------------------------------------------

void rendezvous::retry() noexcept {
    for (receive *r = std::exchange(stalled_receives_, nullptr); r;) {
        receive *after = r->next_stalled;
        start_transfer(*r);
        r = after;
    }
    for (send_operation *s = std::exchange(partial_sends_, nullptr); s;) {
        send_operation *after = s->next;
        if (send_parts(*s)) {
            finish(*s, errc::none);
        } else {
            s->next = partial_sends_;
            partial_sends_ = s;
        }
        s = after;
    }
    mark_waiting();
}

void rendezvous::fail(peer &peer) noexcept {
    take_if(partial_sends_, &send_operation::next,
            [&](const send_operation &s) { return s.rank == peer.rank; }); // also in offers_
    offers_.each([&](std::uint64_t, send_operation &s) {
        if (s.rank == peer.rank)
            finish(s, errc::peer_failed);
    });
    receive *stalled = take_if(stalled_receives_, &receive::next_stalled,
                               [&](const receive &r) { return r.data_transfer.rank == peer.rank; });
    while (stalled) {
        receive *r = std::exchange(stalled, stalled->next_stalled);
        transfer_ended(r->data_transfer, false);
    }
    mark_waiting();
    partial_receives_.each([&](std::uint64_t id, receive &r) {
        if (r.sender_rank != peer.rank)
            return;
        partial_receives_.remove(id);
        r.finish(errc::peer_failed, &core_.callbacks);
    });
}

} // namespace fult::comm::detail
