// Ends of several requests, in every way that there is.
#pragma once

#include <functional>
#include <vector>

#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {

// The outcome of request i: its status, or an error. wait_all returns neither per request: then `known` is
// false, and `failure` is that of the first request that failed.
struct outcome {
    bool known = true;
    status envelope{};
    errc failure = errc::none;
};

// Completes all of them, in one of the ways, and empties the list. An error that is no comm::error fails.
void complete(actor &by, std::vector<request> &all,
              const std::function<void(std::size_t, const outcome &)> &ended);

} // namespace fult::comm::testing
