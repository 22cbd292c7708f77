#include "comm/device/handler_calls.hpp"

#include <cstring>
#include <new>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "comm/endpoints/endpoint_state.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

struct handler_calls::call final : callback {
    handler_calls *by = nullptr;
    call *next = nullptr; // in a list of handler_calls
    status about;
    std::uint16_t endpoint = 0;
    const std::byte *bytes = nullptr;
    packet *in = nullptr; // that holds the bytes
    std::unique_ptr<std::byte[]> own;
};

handler_calls::~handler_calls() {
    for (call *list : {free_, ended_})
        while (call *each = list) {
            list = each->next;
            delete each;
        }
}

// Returns nullptr if there is no memory.
handler_calls::call *handler_calls::new_call(std::uint16_t endpoint, const status &about) noexcept {
    call *c = free_;
    if (c)
        free_ = c->next;
    else
        c = new (std::nothrow) call;
    if (!c)
        return nullptr;
    c->by = this;
    c->endpoint = endpoint;
    c->about = about;
    c->callback::run = [](callback &due) noexcept {
        auto &self = static_cast<call &>(due);
        self.by->run(self);
    };
    return c;
}

bool handler_calls::add(std::uint16_t endpoint, const status &about,
                        std::span<const std::byte> bytes) noexcept {
    if (!current_ && !bytes.empty()) {
        std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes.size()]);
        if (copy)
            std::memcpy(copy.get(), bytes.data(), bytes.size());
        return copy && add(endpoint, about, copy);
    }
    call *const c = new_call(endpoint, about);
    if (!c)
        return false;
    c->bytes = bytes.data();
    if (!bytes.empty()) {
        c->in = current_;
        ++current_->calls;
    }
    callbacks_.add(*c);
    return true;
}

bool handler_calls::add(std::uint16_t endpoint, const status &about,
                        std::unique_ptr<std::byte[]> &bytes) noexcept {
    call *const c = new_call(endpoint, about);
    if (!c)
        return false;
    c->own = std::move(bytes);
    c->bytes = c->own.get();
    callbacks_.add(*c);
    return true;
}

// An endpoint that was detached has no handler any more: its messages are dropped.
void handler_calls::run(call &c) noexcept {
    runner_.store(fult::detail::this_thread(), std::memory_order_relaxed);
    running_.store(c.endpoint, std::memory_order_seq_cst); // before find: pairs with await_end_of
    FULT_ASSERT(c.by == this && (c.bytes || c.about.size == 0));
    if (endpoint_state *const e = endpoints_.find(c.endpoint, std::memory_order_seq_cst))
        e->call_handler(c.about, {c.bytes, c.about.size});
    running_.store(none, std::memory_order_release); // pairs with await_end_of
    c.next = ended_;
    ended_ = &c;
}

void handler_calls::reclaim() noexcept {
    while (call *c = ended_) {
        ended_ = c->next;
        FULT_ASSERT(!c->in || c->in->calls != 0, "the packet counts this call");
        c->own.reset();
        if (packet *const p = std::exchange(c->in, nullptr); p && --p->calls == 0 && p->is_handled) {
            p->is_handled = false;
            packets_.post(*p, static_cast<std::size_t>(std::exchange(p->rank, -1)));
        }
        c->next = free_;
        free_ = c;
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
