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
        r.registered[i].base = r.base;
        r.registered[i].size = r.size;
        r.is_registered[i] =
            r.size != 0 && core_.limits[i].one_sided && core_.limits[i].local_keys &&
            core_.transports[i]->register_memory_for(r.registered[i], access_of_others::none);
    }
}

// Any thread.
void one_sided::deregister_memory(region_state &r) noexcept {
    {
        const std::lock_guard hold(core_.mutex);
        regions_.remove(r.id);
        for (serving *each : servings_)
            if (each->region == &r && !each->moving) { // it will be refused
                FULT_ASSERT(r.uses != 0);
                each->region = nullptr;
                --r.uses;
            }
    }
    for (;;) {
        {
            const std::lock_guard hold(core_.mutex);
            if (r.uses == 0)
                break;
        }
        progress_.pause();
    }
    for (std::size_t i = 0; i < 2; ++i)
        if (r.is_registered[i])
            core_.transports[i]->deregister_memory(r.registered[i]);
}

// Returns nullptr if there is no such region, or the access is out of range or not permitted.
region_state *one_sided::find_region(std::uint64_t id, std::uint64_t offset, std::uint64_t size,
                                     bool to_write) noexcept {
    region_state *r = regions_.find(id);
    return r && r->contains(offset, size) && (r->writable || !to_write) ? r : nullptr;
}

// Requests ------------------------------------------------------------------------------------------------------------

bool one_sided::put_came(int source, const record_view &r) noexcept {
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

bool one_sided::asked_for(int source, const record_view &r, bool is_put) noexcept {
    const auto body = body_as<access_body>(r.body);
    if (!body)
        return true;
    region_state *const region = find_region(body->region, body->offset, body->size, is_put);
    return region ? serve(source, *body, *region, is_put, r)
                  : answer(source, one_sided_kind::ended, body->id, true);
}

bool one_sided::serve(int source, const access_body &asked, region_state &region, bool is_put,
                      const record_view &r) noexcept {
    const peer &from = core_.peers.of(source);
    if (from.is_doomed())
        return true;
    const transport_limits &limits = core_.limits_of(from);
    const bool direct = asked.direct != 0 && asked.size != 0 && limits.one_sided &&
                        (!limits.local_keys || region.is_registered[from.via_index]);
    if (is_put && !direct)
        return answer(source, one_sided_kind::parts, asked.id);
    if (!is_put && !direct && serve_at_once(source, asked, region))
        return true;
    serving *const s = new (std::nothrow) serving;
    if (!s)
        return false;
    try {
        servings_.push_back(s);
    } catch (const std::bad_alloc &) {
        delete s;
        return false;
    }
    s->place = servings_.size() - 1;
    FULT_ASSERT(region.contains(asked.offset, asked.size));
    s->rank = source;
    s->is_put = is_put;
    s->signals = (r.flags & one_sided_signal) != 0;
    s->direct = direct;
    s->endpoint = r.endpoint;
    s->tag = r.tag;
    s->region = &region;
    s->asked = asked;
    s->owner = this;
    ++region.uses;
    submit(*s);
    return true;
}

// For data that fits one record, if nothing is queued before it.
bool one_sided::serve_at_once(int source, const access_body &asked, const region_state &region) noexcept {
    peer &to = core_.peers.of(source);
    if (asked.size > to.fills - to.head - sizeof(record_head) - sizeof(bytes_body) || !is_clear(source))
        return false;
    const bytes_body body{asked.id, 0};
    return sending_.append(to, record::one_sided, static_cast<std::uint8_t>(one_sided_kind::bytes), 0, 0,
                           bytes_of_body(body), {region.base + asked.offset, asked.size});
}

// Performing accesses ------------------------------------------------------------------------------------------------

bool one_sided::step(serving &s) noexcept {
    if (s.moved) {
        if (!core_.peers.of(s.rank).is_doomed() &&
            !send_reply(s.rank, one_sided_kind::ended, {s.asked.id, 0}))
            return false;
        release(s);
        return true;
    }
    if (!s.region) { // has ended meanwhile
        if (!send_reply(s.rank, one_sided_kind::ended, {s.asked.id, 1}))
            return false;
        release(s);
        return true;
    }
    return s.direct ? start(s) : send_bytes(s);
}

bool one_sided::start(serving &s) noexcept {
    FULT_ASSERT(s.direct && s.region && !s.moving);
    peer &from = core_.peers.of(s.rank);
    s.move.local = s.region->base + s.asked.offset;
    s.move.size = s.asked.size;
    s.move.descriptor = s.region->registered[from.via_index & 1].descriptor;
    s.move.address = s.asked.address;
    s.move.key = s.asked.key;
    s.move.rank = s.rank;
    s.move.owner = &s;
    s.move.ended = [](transfer &t, bool well) noexcept {
        auto &done = *static_cast<serving *>(t.owner);
        done.owner->moved(done, well);
    };
    switch (s.is_put ? from.via->read(s.move) : from.via->write(s.move)) {
    case outcome::done:
        s.moving = true;
        ++core_.under_way;
        return true;
    case outcome::again:
        return false;
    case outcome::failed:
        core_.peers.doom(from);
        release(s);
        return true;
    }
    return true;
}

void one_sided::moved(serving &s, bool well) noexcept {
    FULT_ASSERT(s.moving && !s.moved);
    s.moved = true;
    if (!well) {
        release(s);
    } else if (!end_moved(s)) {
        s.next = unsignaled_;
        unsignaled_ = &s;
        sleep_.press();
    }
}

// Returns false if there is no memory for the signal, the handler of which may begin accesses. The answer is
// queued.
bool one_sided::end_moved(serving &s) noexcept {
    FULT_ASSERT(s.moved);
    if (s.signals && s.is_put && !signal(s.rank, s.endpoint, s.tag))
        return false;
    submit(s);
    return true;
}

void one_sided::retry_signals() noexcept {
    for (serving *each = std::exchange(unsignaled_, nullptr); each;) {
        serving &s = *each;
        each = static_cast<serving *>(s.next);
        if (!end_moved(s)) {
            s.next = unsignaled_;
            unsignaled_ = &s;
        }
    }
}

bool one_sided::send_bytes(serving &s) noexcept {
    FULT_ASSERT(s.region && !s.is_put && s.done <= s.asked.size);
    peer &to = core_.peers.of(s.rank);
    const std::size_t most = to.fills - to.head - sizeof(record_head) - sizeof(bytes_body);
    do {
        const std::size_t length = std::min<std::size_t>(most, s.asked.size - s.done);
        const bytes_body body{s.asked.id, s.done};
        if (!sending_.append(to, record::one_sided, static_cast<std::uint8_t>(one_sided_kind::bytes), 0, 0,
                             bytes_of_body(body), {s.region->base + s.asked.offset + s.done, length}))
            return false;
        s.done += length;
    } while (s.done < s.asked.size);
    release(s);
    return true;
}

void one_sided::release(serving &s) noexcept {
    FULT_ASSERT(s.place < servings_.size() && servings_[s.place] == &s, "a serving knows its place");
    FULT_ASSERT(!s.region || s.region->uses != 0);
    if (s.region)
        --s.region->uses;
    servings_.back()->place = s.place;
    servings_[s.place] = servings_.back();
    servings_.pop_back();
    delete &s;
}

// Answers -------------------------------------------------------------------------------------------------------------

bool one_sided::send_reply(int rank, one_sided_kind kind, const ended_body &body) noexcept {
    return sending_.append(core_.peers.of(rank), record::one_sided, static_cast<std::uint8_t>(kind), 0, 0,
                           bytes_of_body(body));
}

bool one_sided::answer(int rank, one_sided_kind kind, std::uint64_t id, bool refused) noexcept {
    const ended_body body{id, refused ? 1U : 0U};
    if (core_.peers.of(rank).is_doomed() || (is_clear(rank) && send_reply(rank, kind, body)))
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
    return endpoint >= most_endpoints ||
           arrivals_.arrive(source, {record::eager, 0, endpoint, tag, {&nothing, 0}});
}

} // namespace fult::comm::detail
