// Ranks that leave regularly while others still use them.
#pragma once

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {

// The last rank sends and leaves: the caller must end its context when this returns. The others receive what
// it has sent, and every call that depends on more ends with peer_left, whether it was waiting or begins
// later. Sends depend on that rank only if p.world is the context's own endpoint: an endpoint that has ended
// before accepts them forever.
void the_last_rank_leaves(party &p, bool is_contexts_own = true);

} // namespace fult::comm::testing
