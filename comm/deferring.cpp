// Input that cannot be accepted yet: messages for endpoints that are not attached, and packets for which
// there is no memory. They are kept in order and retried. Under the device's lock.
#include <cstdio>
#include <cstring>
#include <utility>

#include "comm/device.hpp"
#include "comm/endpoint_state.hpp"

namespace fult::comm::detail {

// Messages for endpoints that are not attached --------------------------------------------------------------------

void device::early_messages::append(arrived &m) noexcept {
    m.match_item::next = nullptr;
    if (first)
        last->match_item::next = &m;
    else
        first = &m;
    last = &m;
}

arrived *device::early_messages::take() noexcept {
    arrived *const m = first;
    if (m)
        first =
            static_cast<arrived *>(static_cast<wildcard_item *>(std::exchange(m->match_item::next, nullptr)));
    return m;
}

device::early_messages device::take_early(unsigned endpoint) noexcept {
    early_messages its, others;
    while (arrived *m = early_.take())
        (m->key >> 52 == endpoint ? its : others).append(*m);
    early_ = others;
    return its;
}

bool device::hold_early(int source, const record_view &r) noexcept {
    const auto offer = body_as<rts_body>(r.body);
    if (r.kind == record::rts && !offer)
        return true;
    if (refusing_ || gone_[r.endpoint]) {
        if (r.kind != record::rts)
            return true;
        if (!promise_answer())
            return false;
        refuse(source, *offer, refusing_ ? id_never : id_too_long);
        return true;
    }
    arrived *m = new_arrived(r.body.size());
    if (!m)
        return false;
    if (r.kind == record::rts && !promise_answer()) {
        free_arrived(m);
        return false;
    }
    m->about = {source, r.tag, r.body.size()};
    m->key = match_key(r.endpoint, static_cast<std::uint32_t>(source), r.tag);
    if (r.kind == record::rts) {
        m->how = arrived::form::offer;
        m->offer = *offer;
        m->about.size = offer->size;
    } else {
        if (!r.body.empty())
            std::memcpy(m->bytes(), r.body.data(), r.body.size());
        account(source, static_cast<std::ptrdiff_t>(r.body.size()));
    }
    m->complete.store(true, std::memory_order_release);
    early_.append(*m);
    return true;
}

// For an endpoint that is attached now. Returns false if there is no memory to deliver it; see deliver.
bool device::admit(endpoint_state &e, arrived &m) noexcept {
    if (e.matches()) {
        if (receive *r = e.arrive(m))
            meet(*r, m);
        return true;
    }
    if (m.how == arrived::form::offer) {
        if (!deliver_rts(e, m.about, m.offer))
            return false;
    } else {
        if (!e.deliver_in_order(m.about, std::span<const std::byte>(m.bytes(), m.about.size)))
            return false;
        no_longer_unexpected(m.about);
    }
    free_arrived(&m);
    return true;
}

// Delivers, in order, the messages that arrived before the endpoint was attached. Returns false if some must
// wait for memory; those behind them wait too. Handlers run meanwhile, and may make endpoints.
bool device::admit_early(endpoint_state &e) noexcept {
    early_messages its = take_early(e.id);
    while (arrived *m = its.take())
        if (!admit(e, *m)) {
            early_.append(*m);
            while (arrived *behind = its.take())
                early_.append(*behind);
            e.has_early = true;
            return false;
        }
    e.has_early = false;
    return true;
}

// Packets that wait for memory ------------------------------------------------------------------------------

void device::append_deferred(packet &p) noexcept {
    p.next = nullptr;
    (deferred_ ? last_deferred_->next : deferred_) = &p;
    last_deferred_ = &p;
}

// The packet is not given back to its transport, so a rank that sends more than there is memory for runs out
// of packets.
void device::defer(packet &p, std::size_t from) noexcept {
    const record_reader reader({p.data(), p.size}, static_cast<std::uint32_t>(settings_.size));
    ++peer_of(reader.source()).deferred;
    p.rank = static_cast<int>(from);
    append_deferred(p);
    press();
    if (std::exchange(told_no_memory_, true))
        return;
    std::fprintf(
        stderr,
        "fult-comm: rank %d: out of memory, or of tasks, for messages of rank %d; they are delivered when "
        "some is free. Post receives earlier, or lower FULT_COMM_UNEXPECTED\n",
        settings_.rank, reader.source());
}

// Packets of one rank do not delay those of another.
void device::retry_deferred() noexcept {
    packet *each = std::exchange(deferred_, nullptr);
    const auto source_of = [&](const packet &p) -> peer & {
        return peer_of(
            record_reader({p.data(), p.size}, static_cast<std::uint32_t>(settings_.size)).source());
    };
    for (packet *p = each; p; p = p->next)
        source_of(*p).no_memory = false;
    while (each) {
        packet &p = *std::exchange(each, each->next);
        peer &source = source_of(p);
        const auto from = static_cast<std::size_t>(p.rank);
        source.no_memory = source.no_memory || !handle_packet(p, from);
        if (source.no_memory) {
            append_deferred(p);
        } else {
            --source.deferred;
            p.handled = 0;
            p.rank = -1;
            give_back(p, from);
        }
    }
}

// Retries messages that their endpoints had no memory to deliver.
void device::retry_undelivered() noexcept {
    if (!std::exchange(undelivered_, false))
        return;
    for (unsigned i = 0; i < most_endpoints; ++i)
        if (endpoint_state *e = endpoints_[i].load(std::memory_order_acquire); e && !e->matches())
            if (!e->deliver_all_ready() || (e->has_early && !admit_early(*e)))
                undelivered_ = true;
}

} // namespace fult::comm::detail
