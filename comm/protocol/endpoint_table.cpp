#include "comm/protocol/endpoint_table.hpp"

namespace fult::comm::detail {

endpoint_table::endpoint_table()
    : all_(std::make_unique<std::atomic<endpoint_state *>[]>(max_endpoints)), gone_(max_endpoints, false) {}

} // namespace fult::comm::detail
