#include "comm/protocol/send_path.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/service.hpp>

namespace fult::comm::detail {
namespace {

constexpr unsigned receiver_check_interval =
    4; // messages after which it is checked whether the receiver waits for them
constexpr unsigned ready_check_interval =
    16; // messages after which it is checked again whether other tasks are ready
// Bytes that messages take at their receiver. Its limit on unexpected messages is exceeded by this and what
// is in flight.
constexpr std::size_t poll_threshold = 256 * 1024;

} // namespace

std::size_t send_path::eager_limit(int rank) const noexcept {
    const peer &peer = core_.peers.of(rank);
    const std::size_t fits =
        peer.route ? peer.fill_limit - peer.head_size - sizeof(record_head) : core_.settings.packet_size;
    return core_.settings.rendezvous != 0 ? std::min(fits, core_.settings.rendezvous - 1) : fits;
}

void send_path::list_open(peer &peer) noexcept {
    FULT_ASSERT(peer.route || !peer.open_packet, "a peer without a transport has no packet");
    if (peer.is_listed)
        return;
    peer.is_listed = true;
    peer.next_open = open_;
    open_ = &peer;
}

// If the pool is empty, takes an empty packet that another rank keeps for its next message, which may never
// come.
packet *send_path::free_packet() noexcept {
    packet *p = packets_.take();
    for (int i = 0; !p && i < core_.peers.size(); ++i)
        if (peer &other = core_.peers.of(i); other.open_packet && other.open_packet->size == 0)
            p = std::exchange(other.open_packet, nullptr);
    return p;
}

// Writes a record's head to the rank's open packet. Returns where its body goes; nullptr if there is no free
// packet.
std::byte *send_path::reserve_record(peer &peer, record kind, std::uint8_t flags, std::uint16_t endpoint,
                                     std::uint32_t tag, std::size_t body) noexcept {
    const std::size_t need = record_bytes(body);
    if (peer.is_failing())
        return nullptr;
    if (peer.open_packet && peer.open_packet->size + need > peer.fill_limit && !flush(peer))
        return nullptr;
    if (peer.is_failing())
        return nullptr;
    if (!peer.open_packet) {
        peer.open_packet = free_packet();
        if (!peer.open_packet)
            return nullptr;
        peer.open_packet->size = 0;
    }
    packet &p = *peer.open_packet;
    if (p.size == 0) {
        const guarded_head head{{packet_head::expected, static_cast<std::uint32_t>(core_.settings.rank)},
                                core_.settings.secret};
        // If the packet is not guarded, the first record overwrites the secret.
        std::memcpy(p.data(), &head, sizeof head);
        p.size = peer.head_size;
        p.rank = peer.rank;
        p.kind = request_kind::send;
    }
    std::byte *at = p.data() + p.size;
    const record_head head{static_cast<std::uint8_t>(kind),  flags, endpoint, tag,
                           static_cast<std::uint32_t>(body), 0};
    std::memcpy(at, &head, sizeof head);
    p.size += static_cast<std::uint32_t>(need);
    peer.records_sent += is_counted(kind) ? 1 : 0;
    list_open(peer);
    return at + sizeof head;
}

bool send_path::append(peer &peer, record kind, std::uint8_t flags, std::uint16_t endpoint, std::uint32_t tag,
                       std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
    std::byte *const at = reserve_record(peer, kind, flags, endpoint, tag, first.size() + second.size());
    if (!at)
        return false;
    if (!first.empty())
        std::memcpy(at, first.data(), first.size());
    if (!second.empty())
        std::memcpy(at + first.size(), second.data(), second.size());
    return true;
}

bool send_path::append(peer &peer, record kind, const send_operation &s, std::span<const std::byte> first,
                       std::size_t offset, std::size_t size) noexcept {
    std::byte *const at = reserve_record(peer, kind, 0, s.endpoint_id, s.tag, first.size() + size);
    if (!at)
        return false;
    if (!first.empty())
        std::memcpy(at, first.data(), first.size());
    read_bytes(s, offset, at + first.size(), size);
    return true;
}

bool send_path::flush(peer &peer) noexcept {
    packet *p = peer.open_packet;
    if (!p || p->size == 0 || peer.is_failing())
        return true;
    if (!peer.may_send())
        return false;
    const std::size_t size = p->size;
    outcome result;
    if (size <= peer.inject_limit) {
        result = peer.route->inject(peer.rank, p->data(), size);
        if (result == outcome::done)
            p->size = 0;
    } else {
        result = peer.route->send(*p);
        if (result == outcome::done) {
            ++core_.under_way;
            peer.open_packet = nullptr;
        }
    }
    if (result == outcome::failed) {
        core_.peers.schedule_failure(peer);
        return true;
    }
    if (result == outcome::done) {
        peer.count_sent();
        sleep_.ring(peer.rank);
    }
    return result == outcome::done;
}

void send_path::flush_all() noexcept {
    peer *each = std::exchange(open_, nullptr);
    while (each) {
        peer &peer = *each;
        each = peer.next_open;
        peer.is_listed = false;
        if (!flush(peer)) {
            list_open(peer);
            sleep_.interrupt();
        }
    }
}

bool send_path::flush_unless_others_run(peer &peer, std::size_t copied) noexcept {
    if (!core_.settings.gather || sleep_.is_server_asleep() || sends_until_check_ != 0 ||
        !fult::detail::others_ready()) {
        sends_until_check_ = (sends_until_check_ != 0 ? sends_until_check_ : ready_check_interval) - 1;
        if (!flush(peer))
            sleep_.interrupt();
    } else if (++peer.gathered_messages == receiver_check_interval) {
        peer.gathered_messages = 0;
        if (peer.route->has_received_all(peer.rank) && !flush(peer))
            sleep_.interrupt();
    }
    bytes_since_poll_ += copied;
    return bytes_since_poll_ >= poll_threshold;
}

bool send_path::send_silently(peer &peer, record kind, std::span<const std::byte> body) noexcept {
    if (peer.is_failing())
        return true;
    if (!flush(peer) || !append(peer, kind, 0, 0, 0, body))
        return peer.is_failing();
    peer.open_packet->is_silent = true; // until other records join it
    if (!flush(peer))
        sleep_.interrupt();
    if (peer.open_packet)
        peer.open_packet->is_silent = false;
    return true;
}

bool send_path::has_gathered_records() const noexcept {
    for (const peer *each = open_; each; each = each->next_open)
        if (each->open_packet && each->open_packet->size != 0)
            return true;
    return false;
}

// Messages that wait for packets --------------------------------------------------------------------------------------

void send_path::end(send_operation &s, errc failure) noexcept {
    s.envelope = {s.endpoint_rank, s.tag, s.size};
    s.finish(failure, &core_.callbacks);
}

void send_path::queue(send_operation &s) noexcept {
    peer &peer = core_.peers.of(s.rank);
    peer.send_queue.append(s);
    advance(peer);
}

bool send_path::write(send_operation &s) noexcept {
    peer &peer = core_.peers.of(s.rank);
    if (s.kind == record::eager)
        return append(peer, record::eager, s, {}, 0, s.size);
    const rts_body body{s.size, s.id, s.registration.address, s.registration.key, s.is_registered ? 1U : 0U};
    s.is_announced = append(peer, record::rts, 0, s.endpoint_id, s.tag, bytes_of_body(body));
    return s.is_announced;
}

void send_path::advance(peer &peer) noexcept {
    while (send_operation *s = peer.send_queue.first()) {
        if (!write(*s))
            break;
        peer.send_queue.take();
        if (s->kind == record::eager)
            end(*s, errc::none);
    }
    if (!peer.send_queue.empty() && !peer.is_blocked) {
        peer.is_blocked = true;
        peer.next_blocked = blocked_;
        blocked_ = &peer;
        mark_waiting();
        sleep_.interrupt();
    }
}

void send_path::retry() noexcept {
    for (peer *each = std::exchange(blocked_, nullptr); each;) {
        peer &peer = *std::exchange(each, each->next_blocked);
        peer.is_blocked = false;
        advance(peer);
    }
    mark_waiting();
}

// An RTS is its rendezvous's to end.
void send_path::fail(peer &peer) noexcept {
    if (packet *p = std::exchange(peer.open_packet, nullptr))
        packets_.give(*p);
    for (send_operation *each = peer.send_queue.take_all(); each;) {
        send_operation *s = std::exchange(each, each->next);
        if (s->id == 0)
            end(*s, errc::peer_failed);
    }
}

} // namespace fult::comm::detail
