// Choice of a libfabric provider.
#pragma once

#include <string>

#include "comm/fabric/fabric.hpp"
#include "comm/fabric/objects.hpp"

namespace fult::comm::detail {

// Chooses the most preferred provider that meets the transport's requirements. Throws std::runtime_error.
info_ptr choose_provider(const fabric_settings &settings);

// True if that provider can report when a write has arrived in the other rank's memory.
bool offers_delivery(const fi_info &chosen);

} // namespace fult::comm::detail
