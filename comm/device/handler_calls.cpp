#include "comm/device/handler_calls.hpp"

#include <new>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "comm/device/endpoint_state.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

struct handler_calls::call final : callback {
    handler_calls *owner = nullptr;
    call *next = nullptr; // in a list of handler_calls
    status envelope;
    std::uint16_t endpoint = 0;
    std::uint64_t attachment = 0; // of the endpoint: its id may be another one's by now
    const std::byte *bytes = nullptr;
    packet *source_packet = nullptr; // that holds the bytes
    std::unique_ptr<std::byte[]> owned_bytes;
    errc end_reason = errc::none; // of envelope.source, if this is no message
};

handler_calls::~handler_calls() {
    for (call *list : {free_, free_ends_, ended_})
        while (call *each = list) {
            list = each->next;
            delete each;
        }
}

// Returns nullptr if there is no memory.
handler_calls::call *handler_calls::new_call(const endpoint_state &e, const status &envelope) noexcept {
    call *c = free_;
    if (c)
        free_ = c->next;
    else
        c = new (std::nothrow) call;
    if (c)
        prepare(*c, e, envelope);
    return c;
}

void handler_calls::prepare(call &c, const endpoint_state &e, const status &envelope) noexcept {
    c.owner = this;
    c.endpoint = e.id;
    c.attachment = e.attachment;
    c.envelope = envelope;
    c.callback::run = [](callback &due) noexcept {
        auto &self = static_cast<call &>(due);
        self.owner->run(self);
    };
}

void handler_calls::reserve_ends(std::size_t count) {
    for (; spare_ends_ < reserved_ends_ + count; ++spare_ends_) {
        call *const c = new call;
        c->next = std::exchange(free_ends_, c);
    }
    reserved_ends_ += count;
}

void handler_calls::add_end(const endpoint_state &e, int rank, errc reason) noexcept {
    FULT_ASSERT(free_ends_ && reason != errc::none, "memory was reserved for each rank");
    call *const c = std::exchange(free_ends_, free_ends_->next);
    --spare_ends_;
    prepare(*c, e, {rank, 0, 0});
    c->end_reason = reason;
    core_.callbacks.add(*c);
}

bool handler_calls::add(const endpoint_state &e, const status &envelope,
                        std::span<const std::byte> bytes) noexcept {
    if (!current_ && !bytes.empty()) {
        std::unique_ptr<std::byte[]> copy = copy_of(bytes);
        return copy && add(e, envelope, copy);
    }
    call *const c = new_call(e, envelope);
    if (!c)
        return false;
    c->bytes = bytes.data();
    if (!bytes.empty()) {
        c->source_packet = current_;
        ++current_->calls;
    }
    core_.callbacks.add(*c);
    return true;
}

bool handler_calls::add(const endpoint_state &e, const status &envelope,
                        std::unique_ptr<std::byte[]> &bytes) noexcept {
    call *const c = new_call(e, envelope);
    if (!c)
        return false;
    c->owned_bytes = std::move(bytes);
    c->bytes = c->owned_bytes.get();
    core_.callbacks.add(*c);
    return true;
}

// An endpoint that was detached has no handler any more: its messages are dropped.
void handler_calls::run(call &c) noexcept {
    runner_.store(fult::detail::this_thread(), std::memory_order_relaxed);
    running_.store(c.endpoint, std::memory_order_seq_cst); // before find: pairs with await_end_of
    FULT_ASSERT(c.owner == this && (c.bytes || c.envelope.size == 0));
    endpoint_state *e = core_.endpoints.find(c.endpoint, std::memory_order_seq_cst);
    if (e && e->attachment != c.attachment)
        e = nullptr;
    if (e && c.end_reason != errc::none)
        e->call_rank_ended(c.envelope.source, c.end_reason);
    else if (e)
        e->call_handler(c.envelope, {c.bytes, c.envelope.size});
    running_.store(none, std::memory_order_release); // pairs with await_end_of
    c.next = ended_;
    ended_ = &c;
}

void handler_calls::reclaim() noexcept {
    while (call *c = ended_) {
        ended_ = c->next;
        FULT_ASSERT(!c->source_packet || c->source_packet->calls != 0, "the packet counts this call");
        c->owned_bytes.reset();
        if (packet *const p = std::exchange(c->source_packet, nullptr);
            p && --p->calls == 0 && p->is_handled) {
            p->is_handled = false;
            core_.packets.post(*p, static_cast<std::size_t>(std::exchange(p->rank, -1)));
        }
        const bool was_end = std::exchange(c->end_reason, errc::none) != errc::none;
        spare_ends_ += was_end ? 1 : 0;
        call *&list = was_end ? free_ends_ : free_;
        c->next = std::exchange(list, c);
    }
}

void handler_calls::await_end_of(std::uint16_t endpoint) const noexcept {
    fult::detail::spin_wait wait;
    // After endpoint_table::detach: pairs with run.
    while (running_.load(std::memory_order_seq_cst) == endpoint &&
           runner_.load(std::memory_order_relaxed) != fult::detail::this_thread())
        wait();
}

} // namespace fult::comm::detail
