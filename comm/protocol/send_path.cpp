#include "comm/protocol/send_path.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/service.hpp>

namespace fult::comm::detail {
namespace {

constexpr unsigned look_after = 4; // messages after which it is checked whether the receiver waits for them
constexpr unsigned alone_for = 16; // messages after which it is checked again whether other tasks are ready

} // namespace

std::size_t send_path::eager_limit(int rank) const noexcept {
    const peer &to = core_.peers.of(rank);
    const std::size_t fits = to.via ? to.fills - to.head - sizeof(record_head) : core_.settings.packet_size;
    return core_.settings.rendezvous != 0 ? std::min(fits, core_.settings.rendezvous - 1) : fits;
}

void send_path::note_open(peer &to) noexcept {
    FULT_ASSERT(to.via || !to.open, "a peer without a transport has no packet");
    if (to.listed)
        return;
    to.listed = true;
    to.next_open = open_;
    open_ = &to;
}

// If the pool is empty, takes an empty packet that another rank keeps for its next message, which may never
// come.
packet *send_path::free_packet() noexcept {
    packet *p = packets_.take();
    for (int i = 0; !p && i < core_.peers.size(); ++i)
        if (peer &other = core_.peers.of(i); other.open && other.open->size == 0)
            p = std::exchange(other.open, nullptr);
    return p;
}

// Writes a record's head to the rank's open packet. Returns where its body goes; nullptr if there is no free
// packet.
inline std::byte *send_path::room_for(peer &to, record kind, std::uint8_t flags, std::uint16_t endpoint,
                                      std::uint32_t tag, std::size_t body) noexcept {
    const std::size_t need = record_bytes(body);
    if (to.is_doomed())
        return nullptr;
    if (to.open && to.open->size + need > to.fills && !flush(to))
        return nullptr;
    if (to.is_doomed())
        return nullptr;
    if (!to.open) {
        to.open = free_packet();
        if (!to.open)
            return nullptr;
        to.open->size = 0;
    }
    packet &p = *to.open;
    if (p.size == 0) {
        const guarded_head head{{packet_head::expected, static_cast<std::uint32_t>(core_.settings.rank)},
                                core_.settings.secret};
        // If the packet is not guarded, the first record overwrites the secret.
        std::memcpy(p.data(), &head, sizeof head);
        p.size = to.head;
        p.rank = to.rank;
        p.kind = posted_kind::send;
    }
    std::byte *at = p.data() + p.size;
    const record_head head{static_cast<std::uint8_t>(kind),  flags, endpoint, tag,
                           static_cast<std::uint32_t>(body), 0};
    std::memcpy(at, &head, sizeof head);
    p.size += static_cast<std::uint32_t>(need);
    to.sent += is_counted(kind) ? 1 : 0;
    note_open(to);
    return at + sizeof head;
}

bool send_path::append(peer &to, record kind, std::uint8_t flags, std::uint16_t endpoint, std::uint32_t tag,
                       std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
    std::byte *const at = room_for(to, kind, flags, endpoint, tag, first.size() + second.size());
    if (!at)
        return false;
    if (!first.empty())
        std::memcpy(at, first.data(), first.size());
    if (!second.empty())
        std::memcpy(at + first.size(), second.data(), second.size());
    return true;
}

bool send_path::append(peer &to, record kind, const sending &s, std::span<const std::byte> first,
                       std::size_t offset, std::size_t size) noexcept {
    std::byte *const at = room_for(to, kind, 0, s.endpoint, s.tag, first.size() + size);
    if (!at)
        return false;
    if (!first.empty())
        std::memcpy(at, first.data(), first.size());
    read_bytes(s, offset, at + first.size(), size);
    return true;
}

bool send_path::flush(peer &to) noexcept {
    packet *p = to.open;
    if (!p || p->size == 0 || to.is_doomed())
        return true;
    if (!credits_.may_send(to))
        return false;
    const std::size_t size = p->size;
    outcome how;
    if (size <= to.inject) {
        how = to.via->inject(to.rank, p->data(), size);
        if (how == outcome::done)
            p->size = 0;
    } else {
        how = to.via->send(*p);
        if (how == outcome::done) {
            ++core_.under_way;
            to.open = nullptr;
        }
    }
    if (how == outcome::failed) {
        core_.peers.doom(to);
        return true;
    }
    if (how == outcome::done) {
        credits_.note_sent(to);
        sleep_.ring(to.rank);
    }
    return how == outcome::done;
}

void send_path::flush_all() noexcept {
    peer *each = std::exchange(open_, nullptr);
    while (each) {
        peer &to = *each;
        each = to.next_open;
        to.listed = false;
        if (!flush(to)) {
            note_open(to);
            sleep_.press();
        }
    }
}

void send_path::flush_unless_others_run(peer &to) noexcept {
    if (!core_.settings.gather || sleep_.is_server_asleep() || still_alone_ != 0 ||
        !fult::detail::others_ready()) {
        still_alone_ = (still_alone_ != 0 ? still_alone_ : alone_for) - 1;
        if (!flush(to))
            sleep_.press();
    } else if (++to.gathered == look_after) {
        to.gathered = 0;
        if (to.via->has_taken_all(to.rank) && !flush(to))
            sleep_.press();
    }
}

bool send_path::send_silently(peer &to, record kind, std::span<const std::byte> body) noexcept {
    if (to.is_doomed())
        return true;
    if (!flush(to) || !append(to, kind, 0, 0, 0, body))
        return to.is_doomed();
    to.open->is_silent = true; // until other records join it
    if (!flush(to))
        sleep_.press();
    if (to.open)
        to.open->is_silent = false;
    return true;
}

bool send_path::has_gathered() const noexcept {
    for (const peer *each = open_; each; each = each->next_open)
        if (each->open && each->open->size != 0)
            return true;
    return false;
}

// Messages that wait for packets --------------------------------------------------------------------------------------

void send_path::end(sending &s, errc failure) noexcept {
    s.about = {s.named, s.tag, s.size};
    s.finish(failure, &core_.callbacks);
}

void send_path::queue(sending &s) noexcept {
    peer &to = core_.peers.of(s.rank);
    to.waiting.append(s);
    advance(to);
}

bool send_path::write(sending &s) noexcept {
    peer &to = core_.peers.of(s.rank);
    if (s.kind == record::eager)
        return append(to, record::eager, s, {}, 0, s.size);
    const rts_body body{s.size, s.id, s.registered.address, s.registered.key, s.is_registered ? 1U : 0U};
    s.announced = append(to, record::rts, 0, s.endpoint, s.tag, bytes_of_body(body));
    return s.announced;
}

void send_path::advance(peer &to) noexcept {
    while (sending *s = to.waiting.first()) {
        if (!write(*s))
            break;
        to.waiting.take();
        if (s->kind == record::eager)
            end(*s, errc::none);
    }
    if (!to.waiting.empty() && !to.blocked) {
        to.blocked = true;
        to.next_blocked = blocked_;
        blocked_ = &to;
        sleep_.press();
    }
}

void send_path::retry() noexcept {
    for (peer *each = std::exchange(blocked_, nullptr); each;) {
        peer &to = *std::exchange(each, each->next_blocked);
        to.blocked = false;
        advance(to);
    }
}

// An RTS is its rendezvous's to end.
void send_path::fail(peer &who) noexcept {
    if (packet *p = std::exchange(who.open, nullptr))
        packets_.give(*p);
    for (sending *each = who.waiting.take_all(); each;) {
        sending *s = std::exchange(each, each->next);
        if (s->id == 0)
            end(*s, errc::peer_failed);
    }
}

} // namespace fult::comm::detail
