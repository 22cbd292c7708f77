#include "comm/protocol/packet_buffers.hpp"

#include <algorithm>
#include <new>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

packet_buffers::packet_buffers(device_core &core)
    : core_(core), pool_(pool_options()), unposted_(core.transports.size()) {
    post_first();
}

packet_buffers::~packet_buffers() { end_transports(); }

void packet_buffers::end_transports() noexcept {
    for (auto &[index, m] : slabs_)
        core_.transports[index]->deregister_memory(m);
    slabs_.clear();
    core_.transports.clear();
}

packet_pool_options packet_buffers::pool_options() {
    packet_pool_options pool;
    pool.capacity = core_.settings.packet_size;
    pool.packets = core_.settings.packets;
    pool.reserve = std::clamp<std::size_t>(core_.settings.packets / 4, 1, 64);
    pool.slab = std::min<std::size_t>(core_.settings.packets, 64);
    pool.register_memory = [this](void *base, std::size_t size, void *(&descriptor)[2]) {
        return register_slab(base, size, descriptor);
    };
    return pool;
}

// For each transport, the packets hold its own descriptor of the slab's memory.
bool packet_buffers::register_slab(void *base, std::size_t size, void *(&descriptor)[2]) noexcept {
    for (std::size_t i = 0; i < core_.transports.size(); ++i) {
        if (!core_.limits[i].local_keys)
            continue;
        memory m;
        m.base = base;
        m.size = size;
        if (!core_.transports[i]->register_memory_for(m, access_rights::none))
            return false;
        descriptor[i] = m.descriptor;
        try {
            slabs_.push_back({i, m});
        } catch (const std::bad_alloc &) {
            core_.transports[i]->deregister_memory(m);
            return false;
        }
    }
    return true;
}

void packet_buffers::post_first() {
    const std::size_t transports = core_.transports.size();
    const std::size_t each =
        std::max<std::size_t>(1, pool_.in_reserve() / std::max<std::size_t>(1, transports));
    for (std::size_t i = 0; i < transports; ++i) {
        unposted_[i].reserve(each);
        for (std::size_t k = 0; k < each; ++k) {
            packet *p = pool_.take_for_receiving();
            if (!p)
                return;
            p->kind = request_kind::receive;
            p->capacity = static_cast<std::uint32_t>(core_.settings.packet_size);
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

} // namespace fult::comm::detail
