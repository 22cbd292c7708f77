#include "comm/shared/shared.hpp"

#include "comm/shared/shared_transport.hpp"

namespace fult::comm::detail {

std::unique_ptr<transport> open_shared(const shared_settings &settings) {
    return std::make_unique<shared_transport>(settings);
}

} // namespace fult::comm::detail
