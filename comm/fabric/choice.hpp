// Which of libfabric's providers to use.
#pragma once

#include <string>

#include "comm/fabric/fabric.hpp"
#include "comm/fabric/objects.hpp"

namespace fult::comm::detail {

// The first of the preferred ones that does what the transport needs. Throws std::runtime_error.
info_ptr choose_provider(const fabric_settings &settings);

// Whether that provider can tell when a write has arrived in the other rank's memory.
bool offers_delivery(const fi_info &chosen);

} // namespace fult::comm::detail
