#include "comm/protocol/core.hpp"

#include <algorithm>
#include <utility>

#include "comm/packets/wire.hpp"

namespace fult::comm::detail {

device_core::device_core(const device_settings &settings, std::vector<std::unique_ptr<transport>> connected,
                         const std::vector<int> &routes)
    : settings(settings), transports(std::move(connected)), peers(settings.size, mutex) {
    for (const auto &each : transports)
        limits.push_back(each->limits());
    for (int rank = 0; rank < settings.size; ++rank) {
        const int route = routes[static_cast<std::size_t>(rank)];
        if (rank == settings.rank || route < 0)
            continue;
        peer &p = peers.of(rank);
        p.route_index = static_cast<unsigned>(route);
        p.route = transports[p.route_index].get();
        p.head_size = limits_of(p).guarded ? sizeof(guarded_head) : sizeof(packet_head);
        p.inject_limit = std::min(limits_of(p).inject, settings.packet_size);
        p.window = limits_of(p).window;
        // An injected packet needs no buffer and causes no event.
        p.fill_limit =
            p.inject_limit >= 1024 ? p.inject_limit : std::min(limits_of(p).message, settings.packet_size);
    }
}

} // namespace fult::comm::detail
