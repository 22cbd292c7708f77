// The requirements on the collectives, as cases that all ranks of a job run together: in one process over
// loopback (collectives_test.cpp), and as processes (comm_collectives.cpp).
#pragma once

#include <span>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {

std::span<const conformance_case> collective_cases();

} // namespace fult::comm::testing
