#include "comm/protocol/packet_buffers.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace fult::comm::detail {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t packets_of_slab = 64, max_receiving = 64;

std::size_t receiving_of(std::size_t packets) noexcept {
    return std::clamp<std::size_t>(packets / 4, 1, max_receiving);
}

// If the heads were a page apart, all would map to the same few cache sets.
std::size_t stride_of(std::size_t capacity) noexcept {
    const std::size_t stride = (sizeof(packet) + capacity + cache_line - 1) & ~(cache_line - 1);
    return stride % 4096 == 0 ? stride + cache_line : stride;
}

} // namespace

packet_buffers::packet_buffers(device_core &core)
    : core_(core),
      stride_(stride_of(core.settings.packet_size)),
      maximum_(core.settings.packets),
      unposted_(core.transports.size()) {
    slabs_.reserve((maximum_ + packets_of_slab - 1) / packets_of_slab);
    post_first();
}

packet_buffers::~packet_buffers() { end_transports(); }

void packet_buffers::end_transports() noexcept {
    for (slab &each : slabs_)
        deregister_memory(each);
    core_.transports.clear();
}

void packet_buffers::post_first() {
    const std::size_t transports = core_.transports.size();
    std::size_t receiving = receiving_of(maximum_);
    while (made_ <= receiving && make_slab())
        ;
    if (made_ == 0)
        throw std::runtime_error(
            "fult-comm: no memory for " + std::to_string(std::min(packets_of_slab, core_.settings.packets)) +
            " packets of " + std::to_string(core_.settings.packet_size) +
            " bytes, or it could not be registered; remedy: fewer or smaller packets, or a higher "
            "limit of locked memory (ulimit -l)");
    if (made_ <= receiving) // there are no more: some of them must be left to send
        receiving = receiving_of(made_);
    for (std::size_t i = 0; i < transports; ++i) {
        const std::size_t count = std::max<std::size_t>(1, receiving / transports);
        unposted_[i].reserve(count);
        for (std::size_t k = 0; k < count; ++k) {
            packet *const p = take();
            if (!p)
                return;
            p->kind = request_kind::receive;
            post(*p, i);
        }
    }
}

void packet_buffers::keep_unposted(packet &p, std::size_t to) noexcept {
    FULT_ASSERT(unposted_[to].size() < unposted_[to].capacity());
    unposted_[to].push_back(&p); // has capacity for all packets of the transport
}

void packet_buffers::post_rest(std::size_t to) noexcept {
    std::vector<packet *> &rest = unposted_[to];
    while (!rest.empty() && core_.transports[to]->post(*rest.back()) == outcome::done)
        rest.pop_back();
}

// More free packets. Returns false if there is no memory, or their number is reached: as soon as memory
// cannot be registered.
bool packet_buffers::make_slab() noexcept {
    const std::size_t count = std::min(packets_of_slab, maximum_ - made_);
    slab s;
    if (count != 0)
        s.bytes.reset(static_cast<std::byte *>(::operator new(count *stride_, page, std::nothrow)));
    if (!s.bytes) // there may be memory later
        return false;
    if (!register_memory(s, count * stride_)) {
        maximum_ = made_;
        return false;
    }
    for (std::size_t i = count; i-- > 0;) { // the first one is taken first
        packet *const p = ::new (s.bytes.get() + i * stride_) packet{};
        p->capacity = static_cast<std::uint32_t>(core_.settings.packet_size);
        p->descriptor[0] = s.registered[0].descriptor;
        p->descriptor[1] = s.registered[1].descriptor;
        give(*p);
    }
    made_ += count;
    FULT_ASSERT(slabs_.size() < slabs_.capacity() && made_ <= maximum_);
    slabs_.push_back(std::move(s));
    return true;
}

// With each transport that needs it.
bool packet_buffers::register_memory(slab &s, std::size_t size) noexcept {
    for (std::size_t i = 0; i < core_.transports.size(); ++i) {
        if (!core_.limits[i].local_keys)
            continue;
        s.registered[i].base = s.bytes.get();
        s.registered[i].size = size;
        s.is_registered[i] = core_.transports[i]->register_memory(s.registered[i], access_rights::none);
        if (!s.is_registered[i]) {
            deregister_memory(s);
            return false;
        }
    }
    return true;
}

void packet_buffers::deregister_memory(slab &s) noexcept {
    for (std::size_t i = 0; i < core_.transports.size(); ++i)
        if (std::exchange(s.is_registered[i], false))
            core_.transports[i]->deregister_memory(s.registered[i]);
}

} // namespace fult::comm::detail
