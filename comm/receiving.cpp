// Receiving: packets are parsed record by record, messages are matched with receives, and rendezvous messages
// are fetched from their senders. Under the device's lock, unless stated otherwise.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "comm/device.hpp"
#include "comm/endpoint_state.hpp"
#include "comm/match/spin.hpp"
#include "comm/one_sided/one_sided.hpp"

namespace fult::comm::detail {
namespace {

constexpr unsigned records_at_once = 16; // whose receives are prefetched together

constexpr std::size_t short_payload = 256; // messages of up to so many bytes use one allocation size

// A message may be taken from the table before its bytes have been copied.
void await_bytes(const arrived &m) noexcept {
    spin_wait wait;
    while (!m.complete.load(std::memory_order_acquire)) // pairs with arrive
        wait();
}

} // namespace

arrived *new_arrived(std::size_t payload) noexcept {
    void *at = ::operator new(sizeof(arrived) + payload, std::align_val_t(alignof(arrived)), std::nothrow);
    if (!at)
        return nullptr;
    auto *m = ::new (at) arrived;
    m->capacity = payload;
    return m;
}

void free_arrived(arrived *message) noexcept {
    message->~arrived();
    ::operator delete(message, std::align_val_t(alignof(arrived)));
}

arrived *device::message_for(std::size_t payload) noexcept {
    arrived *&spare = spare_[payload <= short_payload ? 0 : 1];
    if (spare && spare->capacity >= payload) {
        arrived *m = std::exchange(spare, nullptr);
        m->how = arrived::form::bytes;
        m->complete.store(false, std::memory_order_relaxed);
        return m;
    }
    return new_arrived(std::max(payload, short_payload)); // nullptr: no memory
}

void device::keep_spare(arrived *m) noexcept {
    arrived *&spare = spare_[m->capacity <= short_payload ? 0 : 1];
    if (spare)
        free_arrived(spare);
    spare = m;
}

// Matching ------------------------------------------------------------------------------------------------------------

// Any thread.
void device::finish_receive(receive &r, errc failure) noexcept {
    r.failure = failure;
    r.finished(r);
}

// Any thread. The bytes have arrived.
void device::fill(receive &r, status about, std::span<const std::byte> bytes) noexcept {
    r.about = about;
    if (bytes.size() > r.room) {
        r.offered = bytes.size();
        finish_receive(r, errc::truncated);
        return;
    }
    if (!bytes.empty())
        std::memcpy(r.data, bytes.data(), bytes.size());
    finish_receive(r, errc::none);
}

// Any thread. The message was unexpected, or a message of this rank itself found the receive.
void device::meet(receive &r, arrived &m) noexcept {
    await_bytes(m);
    switch (m.how) {
    case arrived::form::bytes:
        no_longer_unexpected(m.about);
        fill(r, m.about, std::span<const std::byte>(m.bytes(), m.about.size));
        break;
    case arrived::form::local: {
        sending &s = *m.local;
        fill(r, m.about, std::span<const std::byte>(static_cast<const std::byte *>(s.data), s.size));
        s.finished(s);
        break;
    }
    case arrived::form::offer: {
        device_lock hold(*this);
        begin_move(r, m.about, m.offer);
        flush_all();
        break;
    }
    }
    free_arrived(&m);
}

void device::discard(arrived &m) noexcept {
    await_bytes(m);
    if (m.how == arrived::form::bytes) {
        no_longer_unexpected(m.about);
    } else {
        device_lock hold(*this);
        if (m.how == arrived::form::offer) {
            refuse(m.about.source, m.offer, refusing_ ? id_never : id_too_long);
        } else {
            if (refusing_)
                note_refused(m.about);
            m.local->finished(*m.local);
        }
    }
    free_arrived(&m);
}

// Eager message or RTS.
bool device::arrive(int source, const record_view &r) noexcept {
    endpoint_state *e = endpoints_[r.endpoint].load(std::memory_order_acquire);
    if (!e || refusing_ || e->has_early)
        return hold_early(source, r);
    return r.kind == record::rts ? rts_arrived(*e, source, r) : message_arrived(*e, source, r);
}

// Copies the message to its receive, or stores it as unexpected.
bool device::message_arrived(endpoint_state &e, int source, const record_view &r) noexcept {
    if (e.closed.load(std::memory_order_relaxed)) // set under the lock
        return true;
    // Constructed at each use: reading a struct that was just written in parts stalls on store forwarding.
    const auto about = [&]() -> status { return {source, r.tag, r.body.size()}; };
    if (!e.matches())
        return e.deliver_in_order(about(), r.body);
    arrived *m = message_for(r.body.size());
    if (!m) [[unlikely]]
        return false;
    m->about = about();
    if (receive *waiting = e.arrive(*m)) {
        keep_spare(m);
        // A guess at the next message's receive, which may already be gone.
        if (const match_item *next = waiting->match_item::next)
            __builtin_prefetch(reinterpret_cast<const char *>(next) + 64, 1);
        fill(*waiting, about(), r.body);
        return true;
    }
    std::memcpy(m->bytes(), r.body.data(), r.body.size());
    account(source, static_cast<std::ptrdiff_t>(r.body.size()));
    m->complete.store(true, std::memory_order_release); // pairs with meet
    return true;
}

// Each accepted RTS is answered once, by FIN (`taken`) or CTS (`wanted`).
bool device::rts_arrived(endpoint_state &e, int source, const record_view &r) noexcept {
    const auto offer = body_as<rts_body>(r.body);
    if (!offer)
        return true;
    if (!promise_answer())
        return false;
    if (e.closed.load(std::memory_order_relaxed)) {
        refuse(source, *offer);
        return true;
    }
    const status about{source, r.tag, offer->size};
    if (!e.matches()) {
        if (deliver_rts(e, about, *offer))
            return true;
        --promised_;
        return false;
    }
    arrived *m = message_for(0);
    if (!m) {
        --promised_;
        return false;
    }
    m->about = about;
    m->how = arrived::form::offer;
    m->offer = *offer;
    if (receive *waiting = e.arrive(*m)) {
        keep_spare(m);
        begin_move(*waiting, about, *offer);
        return true;
    }
    m->complete.store(true, std::memory_order_release); // pairs with meet
    return true;
}

// Rendezvous -----------------------------------------------------------------------------------------------------------

// No receive will fetch it: the sender need not wait.
void device::refuse(int source, const rts_body &offer, id_flags why) noexcept {
    send_fin(source, offer.id, why);
}

void device::send_fin(int source, std::uint64_t id, std::uint64_t flags) noexcept {
    const id_body body{id, flags};
    answer_promised(source, record::fin, &body, sizeof body);
}

void device::begin_move(receive &r, const status &about, const rts_body &offer) noexcept {
    ::new (&r.move) transfer;
    ::new (&r.registered) memory;
    r.about = about;
    r.sender = offer.id;
    const peer &from = peer_of(about.source);
    if (from.failed.load(std::memory_order_relaxed)) {
        --promised_;
        finish_receive(r, errc::peer_failed);
        return;
    }
    if (offer.size > r.room) {
        r.offered = offer.size;
        refuse(about.source, offer);
        finish_receive(r, errc::truncated);
        return;
    }
    if (offer.size == 0) {
        send_fin(about.source, offer.id, 0);
        finish_receive(r, errc::none);
        return;
    }
    if (offer.readable && limits_[from.via_index].one_sided) {
        r.move.kind = posted_kind::transfer;
        r.move.local = r.data;
        r.move.size = offer.size;
        r.move.address = offer.address;
        r.move.key = offer.key;
        r.move.rank = about.source;
        r.move.owner = &r;
        if (!limits_[from.via_index].local_keys) {
            start_transfer(r);
            return;
        }
        r.registered.base = r.data;
        r.registered.size = r.room;
        if (from.via->register_memory(r.registered)) {
            r.is_registered = true;
            r.move.descriptor = r.registered.descriptor;
            start_transfer(r);
            return;
        }
    }
    r.missing = offer.size;
    try {
        r.id = filling_.add(r);
    } catch (const std::bad_alloc &) {
        refuse(about.source, offer, id_no_room);
        finish_receive(r, errc::retry);
        return;
    }
    const cts_body body{offer.id, r.id};
    answer_promised(about.source, record::cts, &body, sizeof body);
}

void device::start_transfer(receive &r) noexcept {
    peer &from = peer_of(r.move.rank);
    switch (from.via->read(r.move)) {
    case outcome::done:
        ++under_way_;
        return;
    case outcome::again:
        r.next_moving = stalled_;
        stalled_ = &r;
        press();
        return;
    case outcome::failed:
        moved(r.move, false);
        fail_later(from);
        return;
    }
}

void device::moved(transfer &t, bool well) noexcept {
    if (t.ended) {
        t.ended(t, well);
        return;
    }
    auto &r = *static_cast<receive *>(t.owner);
    if (r.is_registered)
        peer_of(t.rank).via->deregister_memory(r.registered);
    r.is_registered = false;
    if (well)
        send_fin(t.rank, r.sender, 0);
    else
        --promised_;
    finish_receive(r, well ? errc::none : errc::peer_failed);
}

// CTS: the receiver cannot read the message remotely, so it is sent in parts.
void device::cts_arrived(int source, const cts_body &body) noexcept {
    sending *s = offered_.find(body.id);
    if (!s || s->rank != source || s->kind != record::rts || !s->announced)
        return;
    s->kind = record::data;
    s->receiver = body.receiver;
    s->next = waiting_;
    waiting_ = s;
    press();
}

void device::data_arrived(int source, const record_view &r) noexcept {
    const auto head = body_as<data_body>(r.body);
    if (!head)
        return;
    receive *to = filling_.find(head->receiver);
    const auto bytes = r.body.subspan(sizeof(data_body));
    if (!to || to->about.source != source || head->offset > to->about.size ||
        bytes.size() > to->about.size - head->offset || bytes.size() > to->missing)
        return;
    if (!bytes.empty())
        std::memcpy(static_cast<std::byte *>(to->data) + head->offset, bytes.data(), bytes.size());
    to->missing -= bytes.size();
    if (to->missing != 0)
        return;
    filling_.remove(to->id);
    finish_receive(*to, errc::none);
}

// Packets -------------------------------------------------------------------------------------------------------------

bool device::handle_record(int source, const record_view &r) noexcept {
    switch (r.kind) {
    case record::eager:
    case record::rts:
        return r.endpoint >= most_endpoints || arrive(source, r);
    case record::fin:
        if (const auto body = body_as<id_body>(r.body))
            if (sending *s = offered_.find(body->id);
                s && s->rank == source && s->kind == record::rts && s->announced) {
                const bool never = (body->flags & id_never) != 0;
                if (never && s->is_copy)
                    note_refused({s->rank, s->tag, s->size});
                finish_sending(*s, (body->flags & id_no_room) != 0 ? errc::retry
                                   : never                         ? errc::peer_left
                                                                   : errc::none);
            }
        break;
    case record::cts:
        if (const auto body = body_as<cts_body>(r.body))
            cts_arrived(source, *body);
        break;
    case record::data:
        data_arrived(source, r);
        break;
    case record::slower:
    case record::faster:
        peer_of(source).offers_only = r.kind == record::slower;
        break;
    case record::one_sided:
        return one_sided_->handle(source, r);
    case record::leaving:
        peer_leaves(source);
        break;
    case record::alive:
        break;
    case record::probe:
        if (probe_listener *who = probes_.load(std::memory_order_relaxed))
            if (const auto body = body_as<probe_body>(r.body))
                who->probe_came(source, *body);
        break;
    }
    return true;
}

bool device::handle_packet(packet &p, std::size_t from) noexcept {
    record_reader reader({p.data(), p.size}, static_cast<std::uint32_t>(settings_.size));
    // A packet must come from a rank of the job, by the transport that answers to that rank use. Invalid
    // packets are dropped.
    if (!reader.ok() || peer_of(reader.source()).via != transports_[from].get())
        return refuse_packet(from);
    peer &source = peer_of(reader.source());
    if (p.handled != 0) { // deferred before; its sign of life was counted then
        reader.go_on_at({p.data(), p.size}, p.handled);
    } else {
        if (source.head != sizeof(packet_head) && !reader.pass(settings_.secret))
            return refuse_packet(from);
        source.quiet = 0;
        if (source.deferred != 0) [[unlikely]] {
            p.handled = source.head;
            return false;
        }
    }
    record_view first;
    if (!reader.next(first))
        return true;
    if (!handle_record(reader.source(), first)) [[unlikely]] {
        p.handled = p.handled != 0 ? p.handled : source.head;
        return false;
    }
    source.received += is_counted(first.kind) ? 1 : 0;
    if (!reader.at_end())
        return handle_records(reader, p);
    silent_events_ += is_counted(first.kind) ? 0 : 1;
    return true;
}

// Refused packets are counted if they may be a stranger's. They are not deferred.
bool device::refuse_packet(std::size_t from) noexcept {
    if (!limits_[from].guarded)
        return true;
    if (strange_.fetch_add(1, std::memory_order_relaxed) == 0)
        std::fprintf(
            stderr,
            "fult-comm: rank %d: a packet that is not of this job came over the network (%s) and was "
            "refused; others will be as well, and are counted (context::refused_packets). "
            "FULT_COMM_INTERFACE chooses another network\n",
            settings_.rank, transports_[from]->name());
    return true;
}

bool device::handle_records(record_reader &reader, packet &p) noexcept {
    record_view some[records_at_once];
    peer &source = peer_of(reader.source());
    unsigned count;
    do {
        count = 0;
        while (count < records_at_once && reader.next(some[count]))
            ++count;
        if (count > 1)
            prefetch(reader.source(), {some, count});
        for (unsigned i = 0; i < count; ++i)
            if (!handle_record(reader.source(), some[i])) [[unlikely]] {
                p.handled = static_cast<std::uint32_t>(some[i].body.data() - sizeof(record_head) - p.data());
                return false;
            } else {
                source.received += is_counted(some[i].kind) ? 1 : 0;
            }
    } while (count == records_at_once);
    return true;
}

void device::give_back(packet &p, std::size_t to) noexcept {
    if (transports_[to]->post(p) != outcome::done)
        unposted_[to].push_back(&p); // capacity is reserved for all packets
}

void device::received(packet &p, std::size_t from) noexcept {
    p.handled = 0;
    if (handle_packet(p, from)) [[likely]]
        give_back(p, from);
    else
        defer(p, from);
}

// Prefetches the receives of the first messages of some packets; the others in a packet follow when it is
// handled.
void device::prefetch(std::span<const event> packets) const noexcept {
    std::uint64_t keys[records_at_once];
    unsigned count = 0;
    for (const event &each : packets)
        if (each.what_happened == event::kind::received) {
            const packet &p = static_cast<const packet &>(*each.what);
            record_view r;
            record_reader reader({p.data(), p.size}, static_cast<std::uint32_t>(settings_.size));
            if (reader.ok() && peer_of(reader.source()).head != sizeof(packet_head) &&
                !reader.pass(settings_.secret))
                continue;
            if (!reader.next(r))
                continue;
            const std::uint64_t key =
                match_key(r.endpoint, static_cast<std::uint32_t>(reader.source()), r.tag);
            if (count != 0 && keys[count - 1] == key)
                continue;
            table_.prefetch(key);
            keys[count++] = key;
        }
    for (unsigned i = 0; i < count; ++i)
        table_.prefetch_item(keys[i]);
}

// The receives of these messages may be anywhere in memory.
void device::prefetch(int source, std::span<const record_view> messages) const noexcept {
    const auto key = [&](const record_view &r) {
        return match_key(r.endpoint, static_cast<std::uint32_t>(source), r.tag);
    };
    for (const record_view &each : messages)
        table_.prefetch(key(each));
    for (const record_view &each : messages)
        table_.prefetch_item(key(each));
}

void device::handle(const event &e, std::size_t from) noexcept {
    switch (e.what_happened) {
    case event::kind::received: {
        received(static_cast<packet &>(*e.what), from);
        return;
    }
    case event::kind::sent:
        --under_way_;
        silent_events_ += std::exchange(static_cast<packet &>(*e.what).is_silent, false) ? 1 : 0;
        packets_->give(0, static_cast<packet &>(*e.what));
        return;
    case event::kind::moved:
        --under_way_;
        moved(static_cast<transfer &>(*e.what), true);
        return;
    case event::kind::lost:
        break;
    }
    switch (e.what->kind) {
    case posted_kind::receive: {
        auto &p = static_cast<packet &>(*e.what);
        if (const int rank = p.rank; rank >= 0)
            fail_later(peer_of(rank));
        give_back(p, from);
        return;
    }
    case posted_kind::send: {
        --under_way_;
        auto &p = static_cast<packet &>(*e.what);
        const int rank = p.rank;
        p.is_silent = false;
        packets_->give(0, p);
        fail_later(peer_of(rank));
        return;
    }
    case posted_kind::transfer: {
        --under_way_;
        auto &t = static_cast<transfer &>(*e.what);
        const int rank = t.rank;
        moved(t, false);
        fail_later(peer_of(rank));
        return;
    }
    }
}

bool device::poll_transports() noexcept {
    bool any = false;
    for (std::size_t i = 0; i < transports_.size(); ++i) {
        event events[records_at_once];
        const unsigned count = transports_[i]->poll(events);
        if (count > 1)
            prefetch(std::span<const event>(events, count));
        silent_events_ = 0;
        for (unsigned k = 0; k < count; ++k)
            handle(events[k], i);
        any = any || count != silent_events_;
        while (!unposted_[i].empty() && transports_[i]->post(*unposted_[i].back()) == outcome::done)
            unposted_[i].pop_back();
    }
    if (any) // tasks may have been woken
        still_alone_ = 0;
    return any;
}

} // namespace fult::comm::detail
