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
    peer &to = core_.peers.of(a.rank);
    if (!to.via) {
        begin_here(a);
        return;
    }
    const std::lock_guard hold(core_.mutex);
    a.missing = a.size;
    if (to.is_doomed() || to.left.load(std::memory_order_relaxed)) {
        finish(a, to.is_doomed() ? errc::peer_failed : errc::peer_left);
        return;
    }
    try {
        a.id = accesses_.add(a);
    } catch (const std::bad_alloc &) {
        finish(a, errc::retry);
        return;
    }
    const transport_limits &limits = core_.limits_of(to);
    if (a.size > sending_.eager_limit(a.rank) && limits.one_sided && (a.is_put || limits.stops_writes)) {
        a.registered.base = a.local;
        a.registered.size = a.size;
        a.is_registered = a.direct = to.via->register_memory_for(
            a.registered, a.is_put ? access_of_others::read : access_of_others::write);
    }
    submit(a);
    sending_.flush_unless_others_run(to);
}

// Access to this rank's own memory. A long copy does not block the device.
void one_sided::begin_here(access &a) noexcept {
    region_state *r = nullptr;
    {
        const std::lock_guard hold(core_.mutex);
        r = find_region(a.region, a.offset, a.size, a.is_put);
        if (r)
            ++r->uses;
    }
    if (!r) {
        finish(a, errc::refused, nullptr);
        return;
    }
    std::byte *const there = r->base + a.offset;
    FULT_ASSERT(r->contains(a.offset, a.size));
    if (a.size != 0)
        std::memmove(a.is_put ? there : a.local, a.is_put ? a.local : there, a.size);
    bool told = true;
    if (a.signals)
        try {
            arrivals_.send_here(*a.through, a.tag, nullptr, 0);
        } catch (const std::bad_alloc &) {
            told = false;
        }
    {
        const std::lock_guard hold(core_.mutex);
        FULT_ASSERT(r->uses != 0);
        --r->uses;
    }
    finish(a, told ? errc::none : errc::retry, nullptr);
}

bool one_sided::step(access &a) noexcept {
    FULT_ASSERT(!a.announced, "an access is announced once");
    a.announced = a.is_put && !a.direct ? send_parts(a) : ask(a);
    return a.announced;
}

// The target answers the last part.
bool one_sided::send_parts(access &a) noexcept {
    peer &to = core_.peers.of(a.rank);
    const std::size_t most = to.fills - to.head - sizeof(record_head) - sizeof(put_body);
    for (;;) {
        const std::size_t length = std::min(most, a.size - a.done);
        FULT_ASSERT(a.done <= a.size);
        const bool last = a.done + length == a.size;
        const put_body body{a.id, a.region, a.offset + a.done};
        auto flags = static_cast<std::uint8_t>(one_sided_kind::put);
        if (last)
            flags = static_cast<std::uint8_t>(flags | one_sided_last | (a.signals ? one_sided_signal : 0));
        if (!sending_.append(to, record::one_sided, flags, a.endpoint, a.tag, bytes_of_body(body),
                             {a.local + a.done, length}))
            return false;
        a.done += length;
        if (last)
            return true;
    }
}

bool one_sided::ask(access &a) noexcept {
    FULT_ASSERT(!a.is_put || a.direct, "a put that the target does not fetch is sent");
    const access_body body{
        a.id, a.region, a.offset, a.size, a.registered.address, a.registered.key, a.is_registered ? 1U : 0U};
    const auto kind = static_cast<std::uint8_t>(a.is_put ? one_sided_kind::fetch : one_sided_kind::get);
    const auto flags = static_cast<std::uint8_t>(kind | (a.signals ? one_sided_signal : 0));
    return sending_.append(core_.peers.of(a.rank), record::one_sided, flags, a.endpoint, a.tag,
                           bytes_of_body(body));
}

// Returns nullptr for an id that this rank has not sent to the other.
access *one_sided::find(std::uint64_t id, int source) noexcept {
    access *a = accesses_.find(id);
    return a && a->rank == source && a->announced ? a : nullptr;
}

void one_sided::bytes_came(int source, std::span<const std::byte> body) noexcept {
    const auto head = body_as<bytes_body>(body);
    access *a = head ? find(head->id, source) : nullptr;
    if (!a || a->is_put)
        return;
    const auto bytes = body.subspan(sizeof(bytes_body));
    if (head->offset > a->size || bytes.size() > a->size - head->offset || bytes.size() > a->missing)
        return;
    if (!bytes.empty())
        std::memcpy(a->local + head->offset, bytes.data(), bytes.size());
    a->missing -= bytes.size();
    if (a->missing == 0)
        finish(*a, errc::none);
}

void one_sided::parts_wanted(int source, std::uint64_t id) noexcept {
    access *a = find(id, source);
    if (!a || !a->is_put || !a->direct)
        return;
    a->direct = false;
    FULT_ASSERT(a->done == 0, "no part has been sent yet");
    a->announced = false;
    submit(*a);
}

void one_sided::finish(access &a, errc failure, callback_queue *locked) noexcept {
    finish_begun(a, accesses_, core_.peers.of(a.rank).via, failure, locked);
}

} // namespace fult::comm::detail
