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
void await_bytes(const unexpected_message &m) noexcept {
    fult::detail::spin_wait wait;
    while (
        !m.is_copied.load(std::memory_order_acquire)) // pairs with message_arrived, rts_arrived, send_to_self
        wait();
}

} // namespace

unexpected_message *allocate_message(std::size_t payload) noexcept {
    void *at = ::operator new(sizeof(unexpected_message) + payload,
                              std::align_val_t(alignof(unexpected_message)), std::nothrow);
    if (!at)
        return nullptr;
    auto *m = ::new (at) unexpected_message;
    m->capacity = payload;
    return m;
}

void free_message(unexpected_message *message) noexcept {
    message->~unexpected_message();
    ::operator delete(message, std::align_val_t(alignof(unexpected_message)));
}

arrivals::~arrivals() {
    for (unexpected_message *each : spare_)
        if (each)
            free_message(each);
    while (unexpected_message *each = early_.take())
        free_message(each);
}

unexpected_message *arrivals::acquire_message(std::size_t payload) noexcept {
    unexpected_message *&spare = spare_[payload <= short_payload ? 0 : 1];
    if (spare && spare->capacity >= payload) {
        unexpected_message *m = std::exchange(spare, nullptr);
        m->content = unexpected_message::content_kind::eager;
        m->is_copied.store(false, std::memory_order_relaxed);
        return m;
    }
    return allocate_message(std::max(payload, short_payload)); // nullptr: no memory
}

void arrivals::keep_spare(unexpected_message *m) noexcept {
    unexpected_message *&spare = spare_[m->capacity <= short_payload ? 0 : 1];
    if (spare)
        free_message(spare);
    spare = m;
}

// A message and its receive ---------------------------------------------------------------------------------------

// The bytes have arrived.
inline void arrivals::fill(receive &r, status envelope, std::span<const std::byte> bytes,
                           callback_queue *callbacks) noexcept {
    if (bytes.size() > r.room || r.is_scattered || r.is_renumbered) [[unlikely]] {
        fill_general(r, envelope, bytes, callbacks);
        return;
    }
    r.envelope = envelope;
    if (!bytes.empty())
        std::memcpy(r.data, bytes.data(), bytes.size());
    r.finish(errc::none, callbacks);
}

[[gnu::noinline]] void arrivals::fill_general(receive &r, status envelope, std::span<const std::byte> bytes,
                                              callback_queue *callbacks) noexcept {
    r.sender_rank = envelope.source;
    r.envelope = r.endpoint->own(envelope);
    if (bytes.size() > r.room) {
        r.message_size = bytes.size();
        r.finish(errc::truncated, callbacks);
        return;
    }
    write_bytes(r, 0, bytes);
    r.finish(errc::none, callbacks);
}

// A message of this rank itself.
void arrivals::fill(receive &r, status envelope, const send_operation &from,
                    callback_queue *callbacks) noexcept {
    if (!from.is_scattered || from.size > r.room) {
        fill(r, envelope, std::span<const std::byte>(static_cast<const std::byte *>(from.data), from.size),
             callbacks);
        return;
    }
    envelope.source = r.endpoint->own_rank(envelope.source);
    r.envelope = envelope;
    std::byte part[1024];
    if (!r.is_scattered)
        read_bytes(from, 0, static_cast<std::byte *>(r.data), from.size);
    else
        for (std::size_t done = 0; done < from.size; done += sizeof part) {
            const std::size_t size = std::min(sizeof part, from.size - done);
            read_bytes(from, done, part, size);
            write_bytes(r, done, {part, size});
        }
    r.finish(errc::none, callbacks);
}

// The message was unexpected, or a message of this rank itself found the receive.
void arrivals::deliver(receive &r, unexpected_message &m) noexcept {
    await_bytes(m);
    if (m.content != unexpected_message::content_kind::rts) {
        deliver_bytes(r, m, nullptr);
        return;
    }
    const std::lock_guard hold(core_.mutex);
    deliver_locked(r, m);
    core_.sends.flush_all();
}

void arrivals::deliver_locked(receive &r, unexpected_message &m) noexcept {
    if (m.content == unexpected_message::content_kind::rts) {
        core_.flow.release_unexpected(m);
        core_.long_messages.begin(r, r.endpoint->own(m.envelope), m.envelope.source, m.rts);
        free_message(&m);
    } else {
        deliver_bytes(r, m, &core_.callbacks);
    }
}

void arrivals::deliver_bytes(receive &r, unexpected_message &m, callback_queue *callbacks) noexcept {
    if (m.content == unexpected_message::content_kind::local) {
        send_operation &s = *m.local;
        fill(r, m.envelope, s, callbacks);
        s.finished(s, callbacks);
    } else {
        core_.flow.release_unexpected(m);
        fill(r, m.envelope, std::span<const std::byte>(m.bytes(), m.envelope.size), callbacks);
    }
    free_message(&m);
}

void arrivals::post(receive &r) noexcept {
    if (unexpected_message *m = r.endpoint->post(r)) {
        deliver(r, *m);
        return;
    }
    // Either the rank's end finds the receive, or this sees that it has begun.
    const errc reason = r.endpoint->closed.load(std::memory_order_acquire)
                            ? errc::peer_failed
                            : r.endpoint->source_error(r.source);
    if (reason != errc::none && r.endpoint->remove(r)) {
        r.envelope.source = r.endpoint_source;
        r.finish(reason, nullptr);
    }
}

void arrivals::discard(unexpected_message &m) noexcept {
    await_bytes(m);
    core_.flow.release_unexpected(m);
    switch (m.content) {
    case unexpected_message::content_kind::eager:
        break;
    case unexpected_message::content_kind::rts:
        core_.long_messages.refuse(m.envelope.source, m.rts, core_.refusing ? id_never : id_too_long);
        break;
    case unexpected_message::content_kind::local:
        if (core_.refusing)
            core_.long_messages.count_refusal(m.envelope);
        m.local->finished(*m.local, &core_.callbacks);
        break;
    }
    free_message(&m);
}

void arrivals::discard_all(unexpected_message *first) noexcept {
    while (unexpected_message *m = first) {
        first = static_cast<unexpected_message *>(static_cast<wildcard_item *>(m->match_item::next));
        discard(*m);
    }
}

// Messages of this rank to itself -------------------------------------------------------------------------------------

// To an endpoint without matching. Returns false if there is no memory.
bool arrivals::deliver_to_self(endpoint_state &e, const status &envelope,
                               std::span<const std::byte> bytes) noexcept {
    if (e.is_accounted())
        core_.flow.account_queued(envelope);
    if (e.deliver_to_self(envelope, bytes))
        return true;
    if (e.is_accounted())
        core_.flow.release_queued(envelope);
    return false;
}

void arrivals::send_to_self(endpoint_state &e, std::uint32_t tag, const void *data, std::size_t size) {
    const status envelope{core_.settings.rank, tag, size};
    const std::span<const std::byte> bytes(static_cast<const std::byte *>(data), size);
    if (!e.matches()) {
        if (!deliver_to_self(e, envelope, bytes))
            throw std::bad_alloc();
        return;
    }
    unexpected_message *m = allocate_message(size);
    if (!m)
        throw std::bad_alloc();
    m->envelope = envelope;
    if (size != 0)
        std::memcpy(m->bytes(), data, size);
    core_.flow.account(*m);
    m->is_copied.store(true, std::memory_order_release); // pairs with await_bytes
    if (receive *r = e.arrive(*m))
        deliver(*r, *m);
}

void arrivals::send_to_self(send_operation &s) noexcept {
    s.envelope = {s.endpoint_rank, s.tag, s.size};
    const status envelope{s.rank, s.tag, s.size};
    endpoint_state &e = *core_.endpoints.find(s.endpoint_id);
    if (!e.matches()) {
        std::unique_ptr<std::byte[]> copy(s.is_scattered ? new (std::nothrow) std::byte[s.size] : nullptr);
        if (copy)
            read_bytes(s, 0, copy.get(), s.size);
        const auto *const bytes = s.is_scattered ? copy.get() : static_cast<const std::byte *>(s.data);
        const bool done = (copy || !s.is_scattered) && deliver_to_self(e, envelope, {bytes, s.size});
        s.finish(done ? errc::none : errc::retry, nullptr);
        return;
    }
    unexpected_message *m = allocate_message(0);
    if (!m) {
        s.finish(errc::retry, nullptr);
        return;
    }
    m->envelope = envelope;
    m->content = unexpected_message::content_kind::local;
    m->local = &s;
    m->is_copied.store(true, std::memory_order_release); // pairs with await_bytes
    if (receive *r = e.arrive(*m))
        deliver(*r, *m);
}

// Messages of other ranks ---------------------------------------------------------------------------------------------

bool arrivals::arrive(int source, const record_view &r) noexcept {
    if (r.endpoint >= max_endpoints) [[unlikely]]
        return true;
    endpoint_state *e = core_.endpoints.find(r.endpoint);
    if (!e || core_.refusing || e->needs_screening()) [[unlikely]] {
        if (!e || core_.refusing || e->has_early())
            return hold_early_message(source, r);
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
    const auto envelope = [&]() -> status { return {source, r.tag, r.body.size()}; };
    if (!e.matches())
        return e.deliver_in_order(envelope(), r.body);
    unexpected_message *m = acquire_message(r.body.size());
    if (!m) [[unlikely]]
        return false;
    m->envelope = envelope();
    if (receive *waiting = e.arrive(*m)) {
        keep_spare(m);
        // A guess at the next message's receive, which may already be gone.
        if (const match_item *next = waiting->match_item::next)
            __builtin_prefetch(reinterpret_cast<const char *>(next) + 64, 1);
        fill(*waiting, envelope(), r.body, &core_.callbacks);
        return true;
    }
    std::memcpy(m->bytes(), r.body.data(), r.body.size());
    core_.flow.account(*m);
    m->is_copied.store(true, std::memory_order_release); // pairs with await_bytes
    return true;
}

// Each accepted RTS is answered once, by FIN or CTS.
bool arrivals::rts_arrived(endpoint_state &e, int source, const record_view &r) noexcept {
    const auto rts = body_as<rts_body>(r.body);
    if (!rts)
        return true;
    if (!core_.answers.reserve())
        return false;
    if (e.closed.load(std::memory_order_relaxed)) {
        core_.long_messages.refuse(source, *rts, id_too_long);
        return true;
    }
    const status envelope{source, r.tag, rts->size};
    unexpected_message *m = e.matches() ? acquire_message(0) : nullptr;
    if (e.matches() ? !m : !deliveries_.rts_arrived(e, envelope, *rts)) {
        core_.answers.release_reservation();
        return false;
    }
    if (!m)
        return true;
    m->envelope = envelope;
    m->content = unexpected_message::content_kind::rts;
    m->rts = *rts;
    if (receive *waiting = e.arrive(*m)) {
        keep_spare(m);
        core_.long_messages.begin(*waiting, e.own(envelope), source, *rts);
        return true;
    }
    core_.flow.account(*m);
    m->is_copied.store(true, std::memory_order_release); // pairs with await_bytes
    return true;
}

// Messages for endpoints that are not attached ------------------------------------------------------------------------

bool arrivals::refuse_early_message(int source, const record_view &r) noexcept {
    if (r.kind != record::rts)
        return true;
    if (!core_.answers.reserve())
        return false;
    core_.long_messages.refuse(source, *body_as<rts_body>(r.body), core_.refusing ? id_never : id_too_long);
    return true;
}

bool arrivals::hold_early_message(int source, const record_view &r) noexcept {
    const auto rts = body_as<rts_body>(r.body);
    const bool is_rts = r.kind == record::rts;
    if (is_rts && !rts)
        return true;
    if (core_.refusing || (core_.endpoints.has_gone(r.endpoint) && !core_.endpoints.expects()))
        return refuse_early_message(source, r);
    unexpected_message *m = allocate_message(r.body.size());
    if (!m)
        return false;
    if (is_rts && !core_.answers.reserve()) {
        free_message(m);
        return false;
    }
    m->envelope = {source, r.tag, r.body.size()};
    m->key = match_key(r.endpoint, static_cast<std::uint32_t>(source), r.tag);
    if (is_rts) {
        m->content = unexpected_message::content_kind::rts;
        m->rts = *rts;
        m->envelope.size = rts->size;
    } else {
        if (!r.body.empty())
            std::memcpy(m->bytes(), r.body.data(), r.body.size());
    }
    core_.flow.account(*m);
    m->is_copied.store(true, std::memory_order_release); // pairs with await_bytes
    early_.append(*m);
    return true;
}

// Returns false if there is no memory to deliver it.
bool arrivals::admit(endpoint_state &e, unexpected_message &m) noexcept {
    if (!e.has_member(m.envelope.source)) [[unlikely]] {
        discard(m);
        return true;
    }
    if (e.matches()) {
        if (receive *r = e.arrive(m))
            deliver_locked(*r, m);
        return true;
    }
    if (m.content == unexpected_message::content_kind::rts) {
        if (!deliveries_.rts_arrived(e, m.envelope, m.rts))
            return false;
    } else {
        if (!e.deliver_in_order(m.envelope, std::span<const std::byte>(m.bytes(), m.envelope.size)))
            return false;
    }
    core_.flow.release_unexpected(m);
    free_message(&m);
    return true;
}

bool arrivals::admit_early_messages(endpoint_state &e) noexcept {
    early_messages messages = early_.take_of(e.id);
    while (unexpected_message *m = messages.take())
        if (!admit(e, *m)) {
            early_.append(*m);
            while (unexpected_message *behind = messages.take())
                early_.append(*behind);
            e.set_early(true);
            return false;
        }
    e.set_early(false);
    return true;
}

void arrivals::drop_early_messages(unsigned endpoint) noexcept {
    early_messages messages = early_.take_of(endpoint);
    while (unexpected_message *m = messages.take())
        discard(*m);
}

void arrivals::drop_detached_messages() noexcept {
    early_messages all = std::exchange(early_, {});
    while (unexpected_message *m = all.take())
        if (core_.endpoints.has_gone(static_cast<unsigned>(m->key >> 52)))
            discard(*m);
        else
            early_.append(*m);
}

void arrivals::drop_early_messages() noexcept {
    while (unexpected_message *m = early_.take())
        discard(*m);
}

void arrivals::retry_undelivered() noexcept {
    if (!deliveries_.take_undelivered())
        return;
    core_.endpoints.each([&](endpoint_state &e) {
        if (!e.matches() && (!e.deliver_all_ready() || (e.has_early() && !admit_early_messages(e))))
            deliveries_.mark_undelivered();
    });
}

} // namespace fult::comm::detail
