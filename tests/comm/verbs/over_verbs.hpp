// The verbs transport, opened as tests of all transports open theirs.
#pragma once

#include <cstdlib>

#include "comm/fabric/fabric.hpp"
#include "comm/verbs/verbs.hpp"

namespace fabric_ranks {

// FULT_TEST_VERBS=rxe0,rxe1: the ports for even and for odd ranks.
inline fult::comm::detail::verbs_settings verbs_of(const fult::comm::detail::fabric_settings &common) {
    fult::comm::detail::verbs_settings settings;
    const char *const ports = std::getenv("FULT_TEST_VERBS");
    settings.ports = ports != nullptr ? ports : "";
    settings.index = static_cast<unsigned>(common.rank);
    settings.rank = common.rank;
    settings.receive_packet_bytes = common.receive_packet_bytes;
    settings.sleep = common.sleep;
    return settings;
}

inline std::unique_ptr<fult::comm::detail::transport>
over_verbs(const fult::comm::detail::fabric_settings &common) {
    return fult::comm::detail::open_verbs(verbs_of(common));
}

} // namespace fabric_ranks
