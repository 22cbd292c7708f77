// Sending: records are gathered in one packet for each rank, and packets are handed to the transport. All
// under the device's lock.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "comm/bells.hpp"
#include "comm/device.hpp"
#include "comm/endpoint_state.hpp"

namespace fult::comm::detail {
namespace {

constexpr unsigned look_after = 4; // messages after which it is checked whether the receiver waits for them
constexpr unsigned alone_for = 16; // messages after which it is checked again whether other tasks are ready

} // namespace

std::size_t device::eager_limit(int rank) const noexcept {
    const peer &to = peer_of(rank);
    const std::size_t fits = to.via ? to.fills - to.head - sizeof(record_head) : settings_.packet_size;
    return settings_.rendezvous != 0 ? std::min(fits, settings_.rendezvous - 1) : fits;
}

void device::note_open(peer &to) noexcept {
    if (to.listed)
        return;
    to.listed = true;
    to.next_open = open_;
    open_ = &to;
}

// Appends a record to the rank's open packet. Returns false if there is no free packet.
bool device::append(peer &to, record kind, std::uint8_t flags, std::uint16_t endpoint, std::uint32_t tag,
                    std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
    const std::size_t body = first.size() + second.size();
    const std::size_t need = record_bytes(body);
    if (to.doomed)
        return false;
    if (to.open && to.open->size + need > to.fills && !flush(to))
        return false;
    if (to.doomed)
        return false;
    if (!to.open) {
        to.open = packets_->take(0);
        // If the pool is empty, take an empty packet that another rank keeps for its next message, which may
        // never come.
        for (int i = 0; !to.open && i < settings_.size; ++i)
            if (peer &other = peer_of(i); other.open && other.open->size == 0)
                to.open = std::exchange(other.open, nullptr);
        if (!to.open)
            return false;
        to.open->size = 0;
    }
    packet &p = *to.open;
    if (p.size == 0) {
        const guarded_head head{{packet_head::expected, static_cast<std::uint32_t>(settings_.rank)},
                                settings_.secret};
        std::memcpy(p.data(), &head,
                    sizeof head); // if the packet is not guarded, the first record overwrites the secret
        p.size = to.head;
        p.rank = to.rank;
        p.kind = posted_kind::send;
    }
    std::byte *at = p.data() + p.size;
    const record_head head{static_cast<std::uint8_t>(kind),  flags, endpoint, tag,
                           static_cast<std::uint32_t>(body), 0};
    std::memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (!first.empty())
        std::memcpy(at, first.data(), first.size());
    if (!second.empty())
        std::memcpy(at + first.size(), second.data(), second.size());
    p.size += static_cast<std::uint32_t>(need);
    to.sent += is_counted(kind) ? 1 : 0;
    note_open(to);
    return true;
}

// Hands the open packet to the transport. Returns false if the transport has no space now.
bool device::flush(peer &to) noexcept {
    packet *p = to.open;
    if (!p || p->size == 0 || to.doomed)
        return true;
    outcome how;
    if (p->size <= to.inject) {
        how = to.via->inject(to.rank, p->data(), p->size);
        if (how == outcome::done)
            p->size = 0;
    } else {
        how = to.via->send(*p);
        if (how == outcome::done) {
            ++under_way_;
            to.open = nullptr;
        }
    }
    if (how == outcome::failed) {
        fail_later(to);
        return true;
    }
    if (how == outcome::done && bells_)
        bells_->ring(to.rank);
    return how == outcome::done;
}

void device::flush_all() noexcept {
    peer *each = std::exchange(open_, nullptr);
    while (each) {
        peer &to = *each;
        each = to.next_open;
        to.listed = false;
        if (!flush(to)) {
            note_open(to);
            press();
        }
    }
}

// Small messages are gathered while this worker has other tasks to run. An idle receiver gets a few early:
// then both ranks work at the same time.
void device::flush_unless_others_run(peer &to) noexcept {
    const bool asleep = apart_ && asleep_.load(std::memory_order_relaxed); // then no thread would poll
    if (!settings_.gather || asleep || still_alone_ != 0 || !fult::detail::others_ready()) {
        still_alone_ = (still_alone_ != 0 ? still_alone_ : alone_for) - 1;
        if (!flush(to))
            press();
    } else if (++to.gathered == look_after) {
        to.gathered = 0;
        if (to.via->has_taken_all(to.rank) && !flush(to))
            press();
    }
}

// Sends a small message to another rank or to this one.
bool device::send_now(endpoint_state &from, int to, std::uint32_t tag, const void *data, std::size_t size) {
    peer &p = peer_of(to);
    if (!p.via) {
        arrived *m = new_arrived(size);
        if (!m)
            throw std::bad_alloc();
        m->about = {to, tag, size};
        if (size != 0)
            std::memcpy(m->bytes(), data, size);
        m->complete.store(true, std::memory_order_release); // pairs with meet
        if (!from.matches()) {
            if (from.counts())
                account(to, static_cast<std::ptrdiff_t>(size));
            const bool delivered = from.deliver(m->about, std::span<const std::byte>(m->bytes(), size));
            free_arrived(m);
            if (!delivered) {
                if (from.counts())
                    account(to, -static_cast<std::ptrdiff_t>(size));
                throw std::bad_alloc();
            }
            return true;
        }
        p.unexpected.fetch_add(static_cast<std::ptrdiff_t>(size), std::memory_order_relaxed);
        if (receive *r = from.arrive(*m))
            meet(*r, *m);
        return true;
    }
    device_lock hold(*this);
    if (p.first || p.offers_only || p.doomed ||
        !append(p, record::eager, 0, from.id, tag, {static_cast<const std::byte *>(data), size}))
        return false;
    flush_unless_others_run(p);
    return true;
}

// Sends any message, without waiting.
void device::send(sending &s) noexcept {
    peer &p = peer_of(s.rank);
    if (!p.via) {
        send_to_self(s);
        return;
    }
    device_lock hold(*this);
    if (p.doomed) {
        finish_sending(s, errc::peer_failed);
        return;
    }
    s.kind = s.size <= eager_limit(s.rank) && !p.offers_only ? record::eager : record::rts;
    if (s.kind == record::rts) {
        try {
            s.id = offered_.add(s);
        } catch (const std::bad_alloc &) {
            finish_sending(s, errc::retry);
            return;
        }
        if (limits_[p.via_index].one_sided) {
            s.registered.base = const_cast<void *>(s.data);
            s.registered.size = s.size;
            s.is_registered = p.via->register_memory(s.registered);
        }
    }
    s.next = nullptr;
    (p.first ? p.last->next : p.first) = &s;
    p.last = &s;
    advance(p);
    flush_unless_others_run(p);
}

// A message to this rank that is too long to be copied twice: it waits for its receive, or is copied to it
// directly.
void device::send_to_self(sending &s) noexcept {
    arrived *m = new_arrived(0);
    s.about = {s.rank, s.tag, s.size};
    if (!m) {
        s.failure = errc::retry;
        s.finished(s);
        return;
    }
    m->about = s.about;
    m->how = arrived::form::local;
    m->local = &s;
    m->complete.store(true, std::memory_order_release); // pairs with meet
    endpoint_state *e = endpoints_[s.endpoint].load(std::memory_order_acquire);
    if (!e->matches()) {
        if (e->counts())
            account(s.rank, static_cast<std::ptrdiff_t>(s.size));
        if (!e->deliver(m->about,
                        std::span<const std::byte>(static_cast<const std::byte *>(s.data), s.size))) {
            if (e->counts())
                account(s.rank, -static_cast<std::ptrdiff_t>(s.size));
            s.failure = errc::retry;
        }
        free_arrived(m);
        s.finished(s);
    } else if (receive *r = e->arrive(*m)) {
        meet(*r, *m);
    }
}

// Retries the sends that wait for packets, in order.
void device::advance(peer &to) noexcept {
    while (to.first) {
        sending &s = *to.first;
        if (!step(s))
            break;
        to.first = s.next;
        if (s.kind == record::eager)
            finish_sending(s, errc::none);
    }
    if (to.first && !to.blocked) {
        to.blocked = true;
        to.next_blocked = blocked_;
        blocked_ = &to;
        press();
    }
}

// Sends the next record of s. Returns false if there is no free packet.
bool device::step(sending &s) noexcept {
    peer &to = peer_of(s.rank);
    const auto *bytes = static_cast<const std::byte *>(s.data);
    if (s.kind == record::eager)
        return append(to, record::eager, 0, s.endpoint, s.tag, {bytes, s.size});
    if (s.kind == record::rts) {
        const rts_body body{s.size, s.id, s.registered.address, s.registered.key, s.is_registered ? 1U : 0U};
        s.announced = append(to, record::rts, 0, s.endpoint, s.tag, bytes_of(body));
        return s.announced;
    }
    const std::size_t most = to.fills - to.head - sizeof(record_head) - sizeof(data_body);
    while (s.done < s.size) {
        const std::size_t length = std::min(most, s.size - s.done);
        const data_body body{s.receiver, s.done};
        if (!append(to, record::data, 0, s.endpoint, s.tag, bytes_of(body), {bytes + s.done, length}))
            return false;
        s.done += length;
    }
    return true;
}

void device::finish_sending(sending &s, errc failure) noexcept {
    finish_begun(s, offered_, peer_of(s.rank).via, failure);
}

// Sends a protocol record, which must not be lost: it overtakes waiting sends, and is held if there is no
// free packet. Returns false if there is no memory to hold it.
bool device::answer(int rank, record kind, const void *body, std::size_t size) noexcept {
    peer &to = peer_of(rank);
    const std::span<const std::byte> bytes(static_cast<const std::byte *>(body), size);
    if (to.doomed || (to.held_answers == 0 && append(to, kind, 0, 0, 0, bytes)))
        return true;
    if (!promise_answer())
        return false;
    answer_promised(rank, kind, body, size);
    return true;
}

// Reserves the memory for an answer that must not fail later.
bool device::promise_answer() noexcept {
    const std::size_t needed = answers_.size() + promised_ + 1;
    if (needed > answers_.capacity())
        try {
            answers_.reserve(2 * needed);
        } catch (const std::bad_alloc &) {
            return false;
        }
    ++promised_;
    return true;
}

void device::answer_promised(int rank, record kind, const void *body, std::size_t size) noexcept {
    --promised_;
    peer &to = peer_of(rank);
    if (to.doomed)
        return;
    const std::span<const std::byte> bytes(static_cast<const std::byte *>(body), size);
    if (to.held_answers == 0 && append(to, kind, 0, 0, 0, bytes))
        return;
    held_answer held{rank, kind, {}, size};
    std::memcpy(held.body, body, size);
    answers_.push_back(held); // has capacity: promise_answer
    ++to.held_answers;
    press();
}

bool device::tell(int rank, record kind) noexcept {
    const id_body nothing{};
    return answer(rank, kind, &nothing, sizeof nothing);
}

// A rank without free packets does not delay the others.
void device::send_held_answers() noexcept {
    for (const held_answer &each : answers_)
        peer_of(each.rank).no_room = false;
    std::erase_if(answers_, [&](const held_answer &each) {
        peer &to = peer_of(each.rank);
        if (!to.doomed) {
            to.no_room = to.no_room ||
                         !append(to, each.kind, 0, 0, 0, std::span<const std::byte>(each.body, each.size));
            if (to.no_room)
                return false;
        }
        --to.held_answers;
        return true;
    });
}

} // namespace fult::comm::detail
