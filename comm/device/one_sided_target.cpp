// The target: regions of this rank, and accesses by other ranks. Under the device's lock, unless stated
// otherwise.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "comm/device/one_sided.hpp"
#include "comm/device/progress.hpp"

namespace fult::comm::detail {

// Regions -------------------------------------------------------------------------------------------------------------

// Any thread.
void one_sided::offer(region_state &r) {
    const std::lock_guard hold(core_.mutex);
    r.id = regions_.add(r);
    // Registers the region if a transport requires that for its own operations; without it, bytes come in
    // parts.
    for (std::size_t i = 0; i < core_.transports.size() && i < 2; ++i) {
        r.registrations[i].base = r.base;
        r.registrations[i].size = r.size;
        r.is_registered[i] = r.size != 0 && core_.limits[i].one_sided && core_.limits[i].local_keys &&
                             core_.transports[i]->register_memory(r.registrations[i], access_rights::none);
    }
}

// Any thread.
void one_sided::deregister_memory(region_state &r) noexcept {
    {
        const std::lock_guard hold(core_.mutex);
        regions_.remove(r.id);
        for (remote_access *each : remote_accesses_)
            if (each->region == &r && !each->is_in_transfer) { // it will be refused
                FULT_ASSERT(r.use_count != 0);
                each->region = nullptr;
                --r.use_count;
            }
    }
    for (;;) {
        {
            const std::lock_guard hold(core_.mutex);
            if (r.use_count == 0)
                break;
        }
        progress_.pause();
    }
    for (std::size_t i = 0; i < 2; ++i)
        if (r.is_registered[i])
            core_.transports[i]->deregister_memory(r.registrations[i]);
}

// Returns nullptr if there is no such region, or the access is out of range or not permitted.
region_state *one_sided::find_region(std::uint64_t id, std::uint64_t offset, std::uint64_t size,
                                     bool to_write) noexcept {
    region_state *r = regions_.find(id);
    return r && r->contains(offset, size) && (r->writable || !to_write) ? r : nullptr;
}

// Requests ------------------------------------------------------------------------------------------------------------

bool one_sided::handle_put(int source, const record_view &r) noexcept {
    const auto body = body_as<put_body>(r.body);
    if (!body)
        return true;
    const auto bytes = r.body.subspan(sizeof(put_body));
    region_state *const region = find_region(body->region, body->offset, bytes.size(), true);
    if (region && !bytes.empty())
        std::memcpy(region->base + body->offset, bytes.data(), bytes.size());
    if ((r.flags & one_sided_last) == 0)
        return true;
    if (!region || (r.flags & one_sided_signal) == 0)
        return answer(source, one_sided_kind::ended, body->id, !region);
    std::unique_ptr<reply> spare(new (std::nothrow) reply); // now: the signal must not be sent twice
    if (!spare || !signal(source, r.endpoint, r.tag))
        return false;
    answer(*spare.release(), source, one_sided_kind::ended, {body->id, 0});
    return true;
}

bool one_sided::handle_request(int source, const record_view &r, bool is_put) noexcept {
    const auto body = body_as<access_body>(r.body);
    if (!body)
        return true;
    region_state *const region = find_region(body->region, body->offset, body->size, is_put);
    return region ? serve(source, *body, *region, is_put, r)
                  : answer(source, one_sided_kind::ended, body->id, true);
}

bool one_sided::serve(int source, const access_body &request, region_state &region, bool is_put,
                      const record_view &r) noexcept {
    const peer &peer = core_.peers.of(source);
    if (peer.is_failing())
        return true;
    const transport_limits &limits = core_.limits_of(peer);
    const auto origin = body_as<origin_body>(r.body.subspan(sizeof request));
    const bool direct = origin && request.size != 0 && limits.one_sided &&
                        (!limits.local_keys || region.is_registered[peer.route_index]);
    if (is_put && !direct)
        return answer(source, one_sided_kind::parts, request.id);
    if (!is_put && !direct && serve_immediately(source, request, region))
        return true;
    remote_access *const s = new (std::nothrow) remote_access;
    if (!s)
        return false;
    try {
        remote_accesses_.push_back(s);
    } catch (const std::bad_alloc &) {
        delete s;
        return false;
    }
    s->index = remote_accesses_.size() - 1;
    FULT_ASSERT(region.contains(request.offset, request.size));
    s->rank = source;
    s->is_put = is_put;
    s->has_signal = (r.flags & one_sided_signal) != 0;
    s->is_direct = direct;
    s->endpoint = r.endpoint;
    s->tag = r.tag;
    s->region = &region;
    s->request = request;
    if (origin)
        s->origin = *origin;
    s->owner = this;
    ++region.use_count;
    submit(*s);
    return true;
}

// For data that fits one record, if nothing is queued before it.
bool one_sided::serve_immediately(int source, const access_body &request,
                                  const region_state &region) noexcept {
    peer &peer = core_.peers.of(source);
    if (request.size > peer.fill_limit - peer.head_size - sizeof(record_head) - sizeof(bytes_body) ||
        !is_queue_empty(source))
        return false;
    const bytes_body body{request.id, 0};
    return core_.sends.append_body(peer, record::one_sided, static_cast<std::uint8_t>(one_sided_kind::bytes),
                                   0, 0, body, {region.base + request.offset, request.size});
}

// Performing accesses ------------------------------------------------------------------------------------------------

bool one_sided::step(remote_access &s) noexcept {
    if (s.is_transferred) {
        if (!core_.peers.of(s.rank).is_failing() &&
            !send_reply(s.rank, one_sided_kind::ended, {s.request.id, 0}))
            return false;
        release(s);
        return true;
    }
    if (!s.region) { // has ended meanwhile
        if (!send_reply(s.rank, one_sided_kind::ended, {s.request.id, 1}))
            return false;
        release(s);
        return true;
    }
    return s.is_direct ? start(s) : send_bytes(s);
}

bool one_sided::start(remote_access &s) noexcept {
    FULT_ASSERT(s.is_direct && s.region && !s.is_in_transfer);
    peer &peer = core_.peers.of(s.rank);
    s.data_transfer.local = s.region->base + s.request.offset;
    s.data_transfer.size = s.request.size;
    s.data_transfer.descriptor = s.region->registrations[peer.route_index & 1].descriptor;
    s.data_transfer.address = s.origin.address;
    s.data_transfer.key = s.origin.key;
    s.data_transfer.rank = s.rank;
    s.data_transfer.owner = &s;
    s.data_transfer.end_handler = [](transfer &t, bool ok) noexcept {
        auto &done = *static_cast<remote_access *>(t.owner);
        done.owner->transfer_ended(done, ok);
    };
    switch (s.is_put ? peer.route->read(s.data_transfer) : peer.route->write(s.data_transfer)) {
    case outcome::done:
        s.is_in_transfer = true;
        ++core_.under_way;
        return true;
    case outcome::again:
        return false;
    case outcome::failed:
        core_.peers.schedule_failure(peer);
        release(s);
        return true;
    }
    return true;
}

void one_sided::transfer_ended(remote_access &s, bool ok) noexcept {
    FULT_ASSERT(s.is_in_transfer && !s.is_transferred);
    s.is_transferred = true;
    if (!ok) {
        release(s);
    } else if (!end_transferred(s)) {
        s.next = unsignaled_accesses_;
        unsignaled_accesses_ = &s;
        mark_waiting();
        core_.sleep.interrupt();
    }
}

// Returns false if there is no memory for the signal, the handler of which may begin accesses. The answer is
// queued.
bool one_sided::end_transferred(remote_access &s) noexcept {
    FULT_ASSERT(s.is_transferred);
    if (s.has_signal && s.is_put && !signal(s.rank, s.endpoint, s.tag))
        return false;
    submit(s);
    return true;
}

void one_sided::retry_signals() noexcept {
    for (remote_access *each = std::exchange(unsignaled_accesses_, nullptr); each;) {
        remote_access &s = *each;
        each = static_cast<remote_access *>(s.next);
        if (!end_transferred(s)) {
            s.next = unsignaled_accesses_;
            unsignaled_accesses_ = &s;
        }
    }
}

bool one_sided::send_bytes(remote_access &s) noexcept {
    FULT_ASSERT(s.region && !s.is_put && s.bytes_sent <= s.request.size);
    peer &peer = core_.peers.of(s.rank);
    const std::size_t most = peer.fill_limit - peer.head_size - sizeof(record_head) - sizeof(bytes_body);
    do {
        const std::size_t length = std::min<std::size_t>(most, s.request.size - s.bytes_sent);
        const bytes_body body{s.request.id, s.bytes_sent};
        if (!core_.sends.append_body(peer, record::one_sided,
                                     static_cast<std::uint8_t>(one_sided_kind::bytes), 0, 0, body,
                                     {s.region->base + s.request.offset + s.bytes_sent, length}))
            return false;
        s.bytes_sent += length;
    } while (s.bytes_sent < s.request.size);
    release(s);
    return true;
}

void one_sided::release(remote_access &s) noexcept {
    FULT_ASSERT(s.index < remote_accesses_.size() && remote_accesses_[s.index] == &s,
                "an access knows its index");
    FULT_ASSERT(!s.region || s.region->use_count != 0);
    if (s.region)
        --s.region->use_count;
    remote_accesses_.back()->index = s.index;
    remote_accesses_[s.index] = remote_accesses_.back();
    remote_accesses_.pop_back();
    delete &s;
}

// Answers -------------------------------------------------------------------------------------------------------------

bool one_sided::send_reply(int rank, one_sided_kind kind, const ended_body &body) noexcept {
    return core_.sends.append_body(core_.peers.of(rank), record::one_sided, static_cast<std::uint8_t>(kind),
                                   0, 0, body);
}

bool one_sided::answer(int rank, one_sided_kind kind, std::uint64_t id, bool refused) noexcept {
    const ended_body body{id, refused ? 1U : 0U};
    if (core_.peers.of(rank).is_failing() || (is_queue_empty(rank) && send_reply(rank, kind, body)))
        return true;
    reply *const r = new (std::nothrow) reply;
    if (r)
        answer(*r, rank, kind, body);
    return r != nullptr;
}

// Takes ownership of the reply.
void one_sided::answer(reply &r, int rank, one_sided_kind kind, const ended_body &body) noexcept {
    r.rank = rank;
    r.kind = kind;
    r.body = body;
    submit(r);
}

// Delivers an empty message as if the other rank had sent it. Returns false if there is no memory for it.
bool one_sided::signal(int source, std::uint16_t endpoint, std::uint32_t tag) noexcept {
    static constexpr std::byte nothing{}; // a copy of no bytes requires a valid address, too
    return endpoint >= max_endpoints ||
           arrivals_.arrive(source, {record::eager, 0, endpoint, tag, {&nothing, 0}});
}

} // namespace fult::comm::detail
