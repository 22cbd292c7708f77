// The shared transport, opened as tests of all transports open theirs.
#pragma once

#include "comm/fabric/fabric.hpp"
#include "comm/shared/shared.hpp"

namespace fabric_ranks {

inline fult::comm::detail::shared_settings shared_of(const fult::comm::detail::fabric_settings &common) {
    fult::comm::detail::shared_settings settings;
    settings.name = common.name;
    settings.rank = common.rank;
    settings.ranks = common.expected_ranks;
    settings.message = common.receive_packet_bytes;
    return settings;
}

inline std::unique_ptr<fult::comm::detail::transport>
over_shared(const fult::comm::detail::fabric_settings &common) {
    return fult::comm::detail::open_shared(shared_of(common));
}

} // namespace fabric_ranks
