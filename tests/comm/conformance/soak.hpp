// Messages of all sizes between all ranks at once, with their contents and their order checked; and the same
// while a rank is lost.
#pragma once

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {

// `count` messages of each of some tags from each rank to each other one.
void soak(context &net, int count);

// The same, but the last rank kills itself during the exchange. Operations of the others with it end with
// peer_failed, and their own exchange continues to the end.
void soak_with_a_loss(context &net, int count);

} // namespace fult::comm::testing
