#include "comm/device/deliveries.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "comm/device/endpoint_state.hpp"

namespace fult::comm::detail {

// A message on its way to an endpoint.
struct deliveries::fetch_operation : receive {
    std::unique_ptr<std::byte[]> bytes;
    deliveries *owner = nullptr;
    ordered_message *message = nullptr; // owned by the endpoint
    bool is_accounted = false;
};

void deliveries::reserve(std::size_t more) { full_endpoints_.reserve(core_.endpoints.attached() + more); }

void deliveries::detach(const endpoint_state &e) noexcept {
    core_.flow.add_waiting(-static_cast<int>(std::erase(full_endpoints_, &e)));
}

bool deliveries::rts_arrived(endpoint_state &e, const status &envelope, const rts_body &rts) noexcept {
    const bool first = std::find(full_endpoints_.begin(), full_endpoints_.end(), &e) == full_endpoints_.end();
    const bool fits = first && has_room_for(e, envelope);
    ordered_message *const message = e.reserve(envelope.source);
    if (!message)
        return false;
    message->envelope = envelope;
    message->rts = rts;
    message->state = ordered_message::waiting;
    if (fits) {
        fetch(e, *message);
    } else if (first) {
        full_endpoints_.push_back(&e); // has capacity for all endpoints
        core_.flow.add_waiting(1);
    }
    return true;
}

// A message that is longer than the share, or that others keep from fitting, is fetched when its endpoint has
// nothing else to deliver: so every dequeue loop proceeds.
bool deliveries::has_room_for(endpoint_state &e, const status &envelope) const noexcept {
    const std::ptrdiff_t left = core_.flow.share() - core_.flow.unexpected(envelope.source);
    return !e.is_accounted() || core_.peers.has_failed(envelope.source) ||
           (left >= 0 && flow_control::queued_bytes(envelope) <= static_cast<std::size_t>(left)) ||
           e.is_drained();
}

void deliveries::fetch_waiting() noexcept {
    if (full_endpoints_.empty())
        return;
    core_.flow.add_waiting(-static_cast<int>(
        std::erase_if(full_endpoints_, [&](endpoint_state *e) { return fetch_waiting(*e); })));
}

// Returns false if some of it must wait for room. Without memory, retries at the next check.
bool deliveries::fetch_waiting(endpoint_state &e) noexcept {
    std::vector<ordered_message *> waiting;
    try {
        waiting = e.waiting_at_senders();
    } catch (const std::bad_alloc &) {
        return false;
    }
    int full = -1; // the source whose next message does not fit: later ones of it must wait
    for (ordered_message *each : waiting) {
        if (each->envelope.source == full)
            continue;
        if (has_room_for(e, each->envelope))
            fetch(e, *each);
        else
            full = each->envelope.source;
    }
    return full < 0;
}

// Allocates memory for the message, which is delivered when it has arrived.
void deliveries::fetch(endpoint_state &e, ordered_message &message) noexcept {
    const status envelope = message.envelope;
    const rts_body rts = message.rts;
    std::unique_ptr<fetch_operation> f(new (std::nothrow) fetch_operation);
    if (f)
        f->bytes.reset(new (std::nothrow) std::byte[rts.size]);
    if (!f || !f->bytes) {
        core_.long_messages.refuse(envelope.source, rts, id_no_room);
        message.state = ordered_message::lost;
        if (!e.deliver_ready(envelope.source))
            mark_undelivered();
        return;
    }
    f->data = f->bytes.get();
    f->room = rts.size;
    f->endpoint = &e;
    f->owner = this;
    f->endpoint_id = e.id;
    f->message = &message;
    f->is_accounted = e.is_accounted();
    if (f->is_accounted)
        core_.flow.account_queued(envelope);
    message.state = ordered_message::in_transfer;
    e.count_transfer();
    f->finished = [](operation &op,
                     callback_queue *) noexcept { // under the device's lock: all callers hold it
        const std::unique_ptr<fetch_operation> done(static_cast<fetch_operation *>(&op));
        done->owner->complete_fetch(*done);
    };
    core_.long_messages.begin(*f.release(), envelope, envelope.source, rts);
} // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): deleted in `finished`

// The endpoint may have ended meanwhile, and its place with it.
void deliveries::complete_fetch(fetch_operation &f) noexcept {
    endpoint_state *const e = core_.endpoints.find(f.endpoint_id);
    if (f.is_accounted && (!e || f.failure != errc::none))
        core_.flow.release_queued(f.envelope);
    if (!e)
        return;
    e->end_transfer();
    f.message->state = f.failure == errc::none ? ordered_message::complete : ordered_message::lost;
    f.message->envelope = f.envelope;
    f.message->bytes = std::move(f.bytes);
    if (!e->deliver_ready(f.envelope.source))
        mark_undelivered();
}

} // namespace fult::comm::detail
