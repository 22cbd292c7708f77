#include "comm/fabric/fabric.hpp"

#include "comm/fabric/endpoint.hpp"

namespace fult::comm::detail {

std::unique_ptr<transport> open_fabric(const fabric_settings &settings) {
    return std::make_unique<fabric_endpoint>(settings);
}

} // namespace fult::comm::detail
