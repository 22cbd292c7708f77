// The origin: operations of this rank on memory of another, or on its own.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include <fult/detail/assertion.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {

void one_sided::begin(access &a) noexcept {
    peer &peer = core_.peers.of(a.rank);
    if (!peer.route) {
        begin_on_self(a);
        return;
    }
    const std::lock_guard hold(core_.mutex);
    a.bytes_left = a.size;
    if (peer.is_failing() || peer.left.load(std::memory_order_relaxed)) {
        finish(a, peer.is_failing() ? errc::peer_failed : errc::peer_left);
        return;
    }
    try {
        a.id = accesses_.add(a);
    } catch (const std::bad_alloc &) {
        finish(a, errc::retry);
        return;
    }
    const transport_limits &limits = core_.limits_of(peer);
    if (a.size > core_.sends.eager_limit(a.rank) && limits.one_sided && (a.is_put || limits.stops_writes)) {
        a.registration.base = a.local;
        a.registration.size = a.size;
        a.is_registered = a.is_direct = peer.route->register_memory(
            a.registration, a.is_put ? access_rights::read : access_rights::write);
    }
    submit(a);
    core_.sends.flush_unless_others_run(peer);
}

// Access to this rank's own memory. A long copy does not block the device.
void one_sided::begin_on_self(access &a) noexcept {
    region_state *r = nullptr;
    {
        const std::lock_guard hold(core_.mutex);
        r = find_region(a.region, a.offset, a.size, a.is_put);
        if (r)
            ++r->use_count;
    }
    if (!r) {
        finish(a, errc::refused, nullptr);
        return;
    }
    std::byte *const there = r->base + a.offset;
    FULT_ASSERT(r->contains(a.offset, a.size));
    if (a.size != 0)
        std::memmove(a.is_put ? there : a.local, a.is_put ? a.local : there, a.size);
    bool is_signaled = true;
    if (a.has_signal)
        try {
            arrivals_.send_to_self(*a.endpoint, a.tag, nullptr, 0);
        } catch (const std::bad_alloc &) {
            is_signaled = false;
        }
    {
        const std::lock_guard hold(core_.mutex);
        FULT_ASSERT(r->use_count != 0);
        --r->use_count;
    }
    finish(a, is_signaled ? errc::none : errc::retry, nullptr);
}

bool one_sided::step(access &a) noexcept {
    FULT_ASSERT(!a.is_announced, "an access is announced once");
    a.is_announced = a.is_put && !a.is_direct ? send_parts(a) : send_request(a);
    return a.is_announced;
}

// The target answers the last part.
bool one_sided::send_parts(access &a) noexcept {
    peer &peer = core_.peers.of(a.rank);
    const std::size_t most = peer.fill_limit - peer.head_size - sizeof(record_head) - sizeof(put_body);
    for (;;) {
        const std::size_t length = std::min(most, a.size - a.bytes_sent);
        FULT_ASSERT(a.bytes_sent <= a.size);
        const bool last = a.bytes_sent + length == a.size;
        const put_body body{a.id, a.region, a.offset + a.bytes_sent};
        auto flags = static_cast<std::uint8_t>(one_sided_kind::put);
        if (last)
            flags = static_cast<std::uint8_t>(flags | one_sided_last | (a.has_signal ? one_sided_signal : 0));
        if (!core_.sends.append_body(peer, record::one_sided, flags, a.endpoint_id, a.tag, body,
                                     {a.local + a.bytes_sent, length}))
            return false;
        a.bytes_sent += length;
        if (last)
            return true;
    }
}

bool one_sided::send_request(access &a) noexcept {
    FULT_ASSERT(!a.is_put || a.is_direct, "a put that the target does not fetch is sent");
    const access_body body{a.id, a.region, a.offset, a.size};
    const origin_body origin{a.registration.address, a.registration.key};
    const auto kind = static_cast<std::uint8_t>(a.is_put ? one_sided_kind::fetch : one_sided_kind::get);
    const auto flags = static_cast<std::uint8_t>(kind | (a.has_signal ? one_sided_signal : 0));
    return core_.sends.append_body(core_.peers.of(a.rank), record::one_sided, flags, a.endpoint_id, a.tag,
                                   body,
                                   a.is_registered ? bytes_of_body(origin) : std::span<const std::byte>());
}

// Answers that arrive together belong to operations on as many stacks.
void one_sided::prefetch(const record_view &r) const noexcept {
    using fult::detail::cache_line;
    const auto kind = static_cast<one_sided_kind>(r.flags & one_sided_kind_bits);
    const auto body = body_as<name_body>(r.body); // all answers begin with the id
    if (!body || (kind != one_sided_kind::bytes && kind != one_sided_kind::ended))
        return;
    const auto *const at = reinterpret_cast<const std::byte *>(accesses_.find(body->id));
    for (std::size_t line = 0; at && line < sizeof(access) + cache_line;
         line += cache_line) // its waiter, too
        __builtin_prefetch(at + line, 1);
}

// Returns nullptr for an id that this rank has not sent to the other.
access *one_sided::find(std::uint64_t id, int source) noexcept {
    access *a = accesses_.find(id);
    return a && a->rank == source && a->is_announced ? a : nullptr;
}

void one_sided::handle_bytes(int source, std::span<const std::byte> body) noexcept {
    const auto head = body_as<bytes_body>(body);
    access *a = head ? find(head->id, source) : nullptr;
    if (!a || a->is_put)
        return;
    const auto bytes = body.subspan(sizeof(bytes_body));
    if (head->offset > a->size || bytes.size() > a->size - head->offset || bytes.size() > a->bytes_left)
        return;
    if (!bytes.empty())
        std::memcpy(a->local + head->offset, bytes.data(), bytes.size());
    a->bytes_left -= bytes.size();
    if (a->bytes_left == 0)
        finish(*a, errc::none);
}

void one_sided::handle_parts_request(int source, std::uint64_t id) noexcept {
    access *a = find(id, source);
    if (!a || !a->is_put || !a->is_direct)
        return;
    a->is_direct = false;
    FULT_ASSERT(a->bytes_sent == 0, "no part has been sent yet");
    a->is_announced = false;
    submit(*a);
}

void one_sided::finish(access &a, errc failure, callback_queue *callbacks) noexcept {
    finish_operation(a, accesses_, core_.peers.of(a.rank).route, failure, callbacks);
}

} // namespace fult::comm::detail
