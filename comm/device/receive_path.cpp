#include "comm/device/receive_path.hpp"

#include <cstdio>
#include <utility>

#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {
namespace {

constexpr unsigned records_at_once = 16; // whose receives are prefetched together

// The key of a message of which nothing has been checked yet. For prefetches alone.
std::uint64_t unchecked_key(int source, const record_view &r) noexcept {
    return match_key(r.endpoint % max_endpoints, static_cast<std::uint32_t>(source), r.tag);
}

bool is_message(const record_view &r) noexcept { return r.kind == record::eager || r.kind == record::rts; }

} // namespace

// Events --------------------------------------------------------------------------------------------------------------

bool receive_path::poll() noexcept {
    bool any = false;
    for (std::size_t i = 0; i < core_.transports.size(); ++i) {
        any = poll(i) != 0 || any;
        core_.packets.post_rest(i);
    }
    if (core_.peers.any_ended()) [[unlikely]]
        core_.peers.schedule_ended([](const peer &each) {
            return each.deferred_packets == 0 && !each.route->has_packet_of(each.rank);
        });
    return any;
}

// Returns the number of events that count.
unsigned receive_path::poll(std::size_t transport) noexcept {
    event events[records_at_once];
    const unsigned count = core_.transports[transport]->poll(events);
    if (count > 1)
        prefetch(std::span<const event>(events, count));
    silent_events_ = 0;
    for (unsigned k = 0; k < count; ++k)
        handle(events[k], transport);
    return count - silent_events_;
}

void receive_path::handle(const event &e, std::size_t from) noexcept {
    switch (e.kind) {
    case event_kind::received:
        received(static_cast<packet &>(*e.request), from);
        return;
    case event_kind::sent:
        --core_.under_way;
        silent_events_ += std::exchange(static_cast<packet &>(*e.request).is_silent, false) ? 1 : 0;
        core_.packets.give(static_cast<packet &>(*e.request));
        return;
    case event_kind::transferred:
        --core_.under_way;
        moved(static_cast<transfer &>(*e.request), true);
        return;
    case event_kind::lost:
        lost(*e.request, from);
        return;
    }
}

void receive_path::lost(work_request &request, std::size_t from) noexcept {
    switch (request.kind) {
    case request_kind::receive: {
        auto &p = static_cast<packet &>(request);
        if (const int rank = p.rank; rank >= 0)
            core_.peers.schedule_failure(core_.peers.of(rank));
        core_.packets.post(p, from);
        return;
    }
    case request_kind::send: {
        --core_.under_way;
        auto &p = static_cast<packet &>(request);
        p.is_silent = false;
        core_.peers.schedule_failure(core_.peers.of(p.rank));
        core_.packets.give(p);
        return;
    }
    case request_kind::transfer: {
        --core_.under_way;
        auto &t = static_cast<transfer &>(request);
        core_.peers.schedule_failure(
            core_.peers.of(t.rank)); // first: an operation that ends by this names a lost rank
        moved(t, false);
        return;
    }
    }
}

void receive_path::moved(transfer &t, bool ok) noexcept {
    if (t.end_handler)
        t.end_handler(t, ok);
    else
        core_.long_messages.transfer_ended(t, ok);
}

// Packets -------------------------------------------------------------------------------------------------------------

void receive_path::received(packet &p, std::size_t from) noexcept {
    p.handled = 0;
    if (!try_packet(p, from)) [[unlikely]]
        defer(p, from);
}

bool receive_path::try_packet(packet &p, std::size_t from) noexcept {
    handlers_.begin(p);
    if (handle_packet(p, from)) [[likely]] {
        p.handled = 0;
        p.rank = -1;
        handlers_.end(p, from);
        return true;
    }
    handlers_.interrupt();
    return false;
}

record_reader receive_path::read(const packet &p) const noexcept {
    return {{p.data(), p.size}, static_cast<std::uint32_t>(core_.settings.size)};
}

inline bool receive_path::handle_record(int source, const record_view &r) noexcept {
    if (is_message(r)) [[likely]]
        return arrivals_.arrive(source, r);
    return handle_other(source, r);
}

bool receive_path::handle_packet(packet &p, std::size_t from) noexcept {
    record_reader reader = read(p);
    // A packet must come from a rank of the job, by the transport that answers to that rank use. Invalid
    // packets are dropped.
    if (!reader.ok() || core_.peers.of(reader.source()).route != core_.transports[from].get())
        return refuse_packet(from);
    peer &source = core_.peers.of(reader.source());
    // It may only have been silent, and go on: its receives have failed, and no later one gets their
    // messages.
    if (source.failed.load(std::memory_order_relaxed)) [[unlikely]]
        return true;
    if (p.handled != 0) { // deferred before; its sign of life was counted then
        reader.resume_at({p.data(), p.size}, p.handled);
    } else {
        if (source.head_size != sizeof(packet_head) && !reader.pass(core_.settings.secret))
            return refuse_packet(from);
        source.unanswered_heartbeats = 0;
        if (source.deferred_packets != 0) [[unlikely]] {
            p.handled = source.head_size;
            return false;
        }
    }
    record_view first;
    if (!reader.next(first))
        return true;
    if (!handle_record(reader.source(), first)) [[unlikely]] {
        p.handled = p.handled != 0 ? p.handled : source.head_size;
        return false;
    }
    source.records_received += is_counted(first.kind) ? 1 : 0;
    if (!reader.at_end()) {
        if (!handle_records(reader, p))
            return false;
    } else {
        silent_events_ += is_counted(first.kind) ? 0 : 1;
    }
    if (first.kind != record::credit && source.count_handled())
        core_.windows.report(source);
    return true;
}

// Refused packets are counted if they may be a stranger's. They are not deferred.
bool receive_path::refuse_packet(std::size_t from) noexcept {
    if (!core_.limits[from].guarded)
        return true;
    if (refused_packets_.fetch_add(1, std::memory_order_relaxed) == 0)
        std::fprintf(
            stderr,
            "fult-comm: rank %d: a packet that is not of this job came over the network (%s) and was "
            "refused; others will be as well, and are counted (context::refused_packets). "
            "FULT_COMM_INTERFACE chooses another network\n",
            core_.settings.rank, core_.transports[from]->name());
    return true;
}

bool receive_path::handle_records(record_reader &reader, packet &p) noexcept {
    record_view some[records_at_once];
    peer &source = core_.peers.of(reader.source());
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
                source.records_received += is_counted(some[i].kind) ? 1 : 0;
            }
    } while (count == records_at_once);
    return true;
}

// Neither a message nor an RTS.
bool receive_path::handle_other(int source, const record_view &r) noexcept {
    switch (r.kind) {
    case record::eager:
    case record::rts:
        break;
    case record::fin:
        if (const auto body = body_as<id_body>(r.body))
            core_.long_messages.fin_arrived(source, *body);
        break;
    case record::cts:
        if (const auto body = body_as<cts_body>(r.body))
            core_.long_messages.cts_arrived(source, *body);
        break;
    case record::data:
        core_.long_messages.data_arrived(source, r);
        break;
    case record::throttle:
    case record::unthrottle:
        core_.peers.of(source).rts_only = r.kind == record::throttle;
        break;
    case record::one_sided:
        return one_sided_.handle(source, r);
    case record::leave:
        return departures_.peer_leaves(source);
    case record::leave_answer:
        core_.peers.of(source).leave_answered = true;
        break;
    case record::heartbeat:
        break;
    case record::credit:
        if (const auto body = body_as<credit_body>(r.body))
            core_.windows.credit_arrived(core_.peers.of(source), body->count);
        break;
    case record::probe:
        core_.probes.probe_arrived(source, r);
        break;
    }
    return true;
}

// Prefetches the receives of the first messages of some packets; the others in a packet follow when it is
// handled.
void receive_path::prefetch(std::span<const event> packets) const noexcept {
    std::uint64_t keys[records_at_once];
    unsigned count = 0;
    for (const event &each : packets)
        if (each.kind == event_kind::received) {
            record_view r;
            record_reader reader = read(static_cast<const packet &>(*each.request));
            if (reader.ok() && core_.peers.of(reader.source()).head_size != sizeof(packet_head) &&
                !reader.pass(core_.settings.secret))
                continue;
            if (!reader.next(r))
                continue;
            const std::uint64_t key = unchecked_key(reader.source(), r);
            if (count != 0 && keys[count - 1] == key)
                continue;
            arrivals_.prefetch(key);
            keys[count++] = key;
        }
    for (unsigned i = 0; i < count; ++i)
        arrivals_.prefetch_receive(keys[i]);
}

void receive_path::prefetch(int source, std::span<const record_view> records) const noexcept {
    for (const record_view &each : records)
        if (is_message(each))
            arrivals_.prefetch(unchecked_key(source, each));
        else if (each.kind == record::one_sided)
            one_sided_.prefetch(each);
    for (const record_view &each : records)
        if (is_message(each))
            arrivals_.prefetch_receive(unchecked_key(source, each));
}

} // namespace fult::comm::detail
