// Ranks that leave regularly while others still use them.
#pragma once

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {

// The last rank sends and leaves: its context is to end when this returns. The others receive what it has
// sent, and every call that counts on more ends with peer_left, whether it waited before or begins later.
// Sends count on it where p.world is the context's own endpoint: one that has ended before accepts them
// forever.
void the_last_rank_leaves(party &p, bool is_contexts_own = true);

} // namespace fult::comm::testing
