#include "comm/device/arrivals.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "comm/device/endpoint_state.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::size_t short_payload = 256; // messages of up to so many bytes use one allocation size

// A message may be taken from the table before its bytes have been copied.
void await_bytes(const arrived &m) noexcept {
    fult::detail::spin_wait wait;
    while (!m.complete.load(std::memory_order_acquire)) // pairs with message_arrived, rts_arrived, send_here
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

arrivals::~arrivals() {
    for (arrived *each : spare_)
        if (each)
            free_arrived(each);
    while (arrived *each = early_.take())
        free_arrived(each);
}

arrived *arrivals::message_for(std::size_t payload) noexcept {
    arrived *&spare = spare_[payload <= short_payload ? 0 : 1];
    if (spare && spare->capacity >= payload) {
        arrived *m = std::exchange(spare, nullptr);
        m->how = arrived::form::bytes;
        m->complete.store(false, std::memory_order_relaxed);
        return m;
    }
    return new_arrived(std::max(payload, short_payload)); // nullptr: no memory
}

void arrivals::keep_spare(arrived *m) noexcept {
    arrived *&spare = spare_[m->capacity <= short_payload ? 0 : 1];
    if (spare)
        free_arrived(spare);
    spare = m;
}

// A message and its receive ---------------------------------------------------------------------------------------

// The bytes have arrived.
inline void arrivals::fill(receive &r, status about, std::span<const std::byte> bytes,
                           callback_queue *locked) noexcept {
    if (bytes.size() > r.room || r.is_scattered || r.is_renumbered) [[unlikely]] {
        fill_specially(r, about, bytes, locked);
        return;
    }
    r.about = about;
    if (!bytes.empty())
        std::memcpy(r.data, bytes.data(), bytes.size());
    r.finish(errc::none, locked);
}

[[gnu::noinline]] void arrivals::fill_specially(receive &r, status about, std::span<const std::byte> bytes,
                                                callback_queue *locked) noexcept {
    r.from = about.source;
    r.about = r.at->own(about);
    if (bytes.size() > r.room) {
        r.offered = bytes.size();
        r.finish(errc::truncated, locked);
        return;
    }
    write_bytes(r, 0, bytes);
    r.finish(errc::none, locked);
}

// A message of this rank itself.
void arrivals::fill(receive &r, status about, const sending &from, callback_queue *locked) noexcept {
    if (!from.is_scattered || from.size > r.room) {
        fill(r, about, std::span<const std::byte>(static_cast<const std::byte *>(from.data), from.size),
             locked);
        return;
    }
    about.source = r.at->own_rank(about.source);
    r.about = about;
    std::byte part[1024];
    if (!r.is_scattered)
        read_bytes(from, 0, static_cast<std::byte *>(r.data), from.size);
    else
        for (std::size_t done = 0; done < from.size; done += sizeof part) {
            const std::size_t size = std::min(sizeof part, from.size - done);
            read_bytes(from, done, part, size);
            write_bytes(r, done, {part, size});
        }
    r.finish(errc::none, locked);
}

// The message was unexpected, or a message of this rank itself found the receive.
void arrivals::meet(receive &r, arrived &m) noexcept {
    await_bytes(m);
    if (m.how != arrived::form::offer) {
        meet_bytes(r, m, nullptr);
        return;
    }
    const std::lock_guard hold(core_.mutex);
    meet_locked(r, m);
    sending_.flush_all();
}

void arrivals::meet_locked(receive &r, arrived &m) noexcept {
    if (m.how == arrived::form::offer) {
        flow_.no_longer_unexpected(m);
        rendezvous_.begin(r, r.at->own(m.about), m.about.source, m.offer);
        free_arrived(&m);
    } else {
        meet_bytes(r, m, &core_.callbacks);
    }
}

void arrivals::meet_bytes(receive &r, arrived &m, callback_queue *locked) noexcept {
    if (m.how == arrived::form::local) {
        sending &s = *m.local;
        fill(r, m.about, s, locked);
        s.finished(s, locked);
    } else {
        flow_.no_longer_unexpected(m);
        fill(r, m.about, std::span<const std::byte>(m.bytes(), m.about.size), locked);
    }
    free_arrived(&m);
}

void arrivals::post(receive &r) noexcept {
    if (arrived *m = r.at->post(r)) {
        meet(r, *m);
        return;
    }
    // Either the rank's end finds the receive, or this sees that it has begun.
    const errc why =
        r.at->closed.load(std::memory_order_acquire) ? errc::peer_failed : r.at->hopeless(r.source);
    if (why != errc::none && r.at->remove(r)) {
        r.about.source = r.named;
        r.finish(why, nullptr);
    }
}

void arrivals::discard(arrived &m) noexcept {
    await_bytes(m);
    flow_.no_longer_unexpected(m);
    switch (m.how) {
    case arrived::form::bytes:
        break;
    case arrived::form::offer:
        rendezvous_.refuse(m.about.source, m.offer, core_.refusing ? id_never : id_too_long);
        break;
    case arrived::form::local:
        if (core_.refusing)
            rendezvous_.note_refused(m.about);
        m.local->finished(*m.local, &core_.callbacks);
        break;
    }
    free_arrived(&m);
}

void arrivals::discard_all(arrived *first) noexcept {
    while (arrived *m = first) {
        first = static_cast<arrived *>(static_cast<wildcard_item *>(m->match_item::next));
        discard(*m);
    }
}

// Messages of this rank to itself -------------------------------------------------------------------------------------

// To an endpoint without matching. Returns false if there is no memory.
bool arrivals::deliver_here(endpoint_state &e, const status &about,
                            std::span<const std::byte> bytes) noexcept {
    if (e.counts())
        flow_.account_in_queue(about);
    if (e.deliver_here(about, bytes))
        return true;
    if (e.counts())
        flow_.no_longer_in_queue(about);
    return false;
}

void arrivals::send_here(endpoint_state &from, std::uint32_t tag, const void *data, std::size_t size) {
    const status about{core_.settings.rank, tag, size};
    const std::span<const std::byte> bytes(static_cast<const std::byte *>(data), size);
    if (!from.matches()) {
        if (!deliver_here(from, about, bytes))
            throw std::bad_alloc();
        return;
    }
    arrived *m = new_arrived(size);
    if (!m)
        throw std::bad_alloc();
    m->about = about;
    if (size != 0)
        std::memcpy(m->bytes(), data, size);
    flow_.account(*m);
    m->complete.store(true, std::memory_order_release); // pairs with await_bytes
    if (receive *r = from.arrive(*m))
        meet(*r, *m);
}

void arrivals::send_here(sending &s) noexcept {
    s.about = {s.named, s.tag, s.size};
    const status about{s.rank, s.tag, s.size};
    endpoint_state &e = *endpoints_.find(s.endpoint);
    if (!e.matches()) {
        std::unique_ptr<std::byte[]> copy(s.is_scattered ? new (std::nothrow) std::byte[s.size] : nullptr);
        if (copy)
            read_bytes(s, 0, copy.get(), s.size);
        const auto *const bytes = s.is_scattered ? copy.get() : static_cast<const std::byte *>(s.data);
        const bool done = (copy || !s.is_scattered) && deliver_here(e, about, {bytes, s.size});
        s.finish(done ? errc::none : errc::retry, nullptr);
        return;
    }
    arrived *m = new_arrived(0);
    if (!m) {
        s.finish(errc::retry, nullptr);
        return;
    }
    m->about = about;
    m->how = arrived::form::local;
    m->local = &s;
    m->complete.store(true, std::memory_order_release); // pairs with await_bytes
    if (receive *r = e.arrive(*m))
        meet(*r, *m);
}

// Messages of other ranks ---------------------------------------------------------------------------------------------

bool arrivals::arrive(int source, const record_view &r) noexcept {
    if (r.endpoint >= most_endpoints) [[unlikely]]
        return true;
    endpoint_state *e = endpoints_.find(r.endpoint);
    if (!e || core_.refusing || e->screens()) [[unlikely]] {
        if (!e || core_.refusing || e->has_early())
            return hold_early(source, r);
        if (!e->has_member(source))
            return true;
    }
    return r.kind == record::rts ? rts_arrived(*e, source, r) : message_arrived(*e, source, r);
}

// Copies the message to its receive, or stores it as unexpected.
bool arrivals::message_arrived(endpoint_state &e, int source, const record_view &r) noexcept {
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
        fill(*waiting, about(), r.body, &core_.callbacks);
        return true;
    }
    std::memcpy(m->bytes(), r.body.data(), r.body.size());
    flow_.account(*m);
    m->complete.store(true, std::memory_order_release); // pairs with await_bytes
    return true;
}

// Each accepted RTS is answered once, by FIN or CTS.
bool arrivals::rts_arrived(endpoint_state &e, int source, const record_view &r) noexcept {
    const auto offer = body_as<rts_body>(r.body);
    if (!offer)
        return true;
    if (!answers_.promise())
        return false;
    if (e.closed.load(std::memory_order_relaxed)) {
        rendezvous_.refuse(source, *offer, id_too_long);
        return true;
    }
    const status about{source, r.tag, offer->size};
    arrived *m = e.matches() ? message_for(0) : nullptr;
    if (e.matches() ? !m : !deliveries_.rts_arrived(e, about, *offer)) {
        answers_.take_back_promise();
        return false;
    }
    if (!m)
        return true;
    m->about = about;
    m->how = arrived::form::offer;
    m->offer = *offer;
    if (receive *waiting = e.arrive(*m)) {
        keep_spare(m);
        rendezvous_.begin(*waiting, e.own(about), source, *offer);
        return true;
    }
    flow_.account(*m);
    m->complete.store(true, std::memory_order_release); // pairs with await_bytes
    return true;
}

// Messages for endpoints that are not attached ------------------------------------------------------------------------

bool arrivals::refuse_early(int source, const record_view &r) noexcept {
    if (r.kind != record::rts)
        return true;
    if (!answers_.promise())
        return false;
    rendezvous_.refuse(source, *body_as<rts_body>(r.body), core_.refusing ? id_never : id_too_long);
    return true;
}

bool arrivals::hold_early(int source, const record_view &r) noexcept {
    const auto offer = body_as<rts_body>(r.body);
    const bool is_rts = r.kind == record::rts;
    if (is_rts && !offer)
        return true;
    if (core_.refusing || (endpoints_.has_gone(r.endpoint) && !endpoints_.expects()))
        return refuse_early(source, r);
    arrived *m = new_arrived(r.body.size());
    if (!m)
        return false;
    if (is_rts && !answers_.promise()) {
        free_arrived(m);
        return false;
    }
    m->about = {source, r.tag, r.body.size()};
    m->key = match_key(r.endpoint, static_cast<std::uint32_t>(source), r.tag);
    if (is_rts) {
        m->how = arrived::form::offer;
        m->offer = *offer;
        m->about.size = offer->size;
    } else {
        if (!r.body.empty())
            std::memcpy(m->bytes(), r.body.data(), r.body.size());
    }
    flow_.account(*m);
    m->complete.store(true, std::memory_order_release); // pairs with await_bytes
    early_.append(*m);
    return true;
}

// Returns false if there is no memory to deliver it.
bool arrivals::admit(endpoint_state &e, arrived &m) noexcept {
    if (!e.has_member(m.about.source)) [[unlikely]] {
        discard(m);
        return true;
    }
    if (e.matches()) {
        if (receive *r = e.arrive(m))
            meet_locked(*r, m);
        return true;
    }
    if (m.how == arrived::form::offer) {
        if (!deliveries_.rts_arrived(e, m.about, m.offer))
            return false;
    } else {
        if (!e.deliver_in_order(m.about, std::span<const std::byte>(m.bytes(), m.about.size)))
            return false;
    }
    flow_.no_longer_unexpected(m);
    free_arrived(&m);
    return true;
}

bool arrivals::admit_early(endpoint_state &e) noexcept {
    early_messages its = early_.take_of(e.id);
    while (arrived *m = its.take())
        if (!admit(e, *m)) {
            early_.append(*m);
            while (arrived *behind = its.take())
                early_.append(*behind);
            e.set_early(true);
            return false;
        }
    e.set_early(false);
    return true;
}

void arrivals::drop_early_of(unsigned endpoint) noexcept {
    early_messages its = early_.take_of(endpoint);
    while (arrived *m = its.take())
        discard(*m);
}

void arrivals::drop_early_of_gone() noexcept {
    early_messages all = std::exchange(early_, {});
    while (arrived *m = all.take())
        if (endpoints_.has_gone(static_cast<unsigned>(m->key >> 52)))
            discard(*m);
        else
            early_.append(*m);
}

void arrivals::drop_all_early() noexcept {
    while (arrived *m = early_.take())
        discard(*m);
}

void arrivals::retry_undelivered() noexcept {
    if (!deliveries_.take_undelivered())
        return;
    endpoints_.each([&](endpoint_state &e) {
        if (!e.matches() && (!e.deliver_all_ready() || (e.has_early() && !admit_early(e))))
            deliveries_.note_undelivered();
    });
}

} // namespace fult::comm::detail
