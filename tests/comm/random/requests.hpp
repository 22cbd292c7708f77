// Ends of several requests, in every way that there is.
#pragma once

#include <functional>
#include <vector>

#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {

// What became of request i: its status, or an error. wait_all names neither for each one: `known` is false
// then, and `failure` that of the first that failed.
struct outcome {
    bool known = true;
    status about{};
    errc failure = errc::none;
};

// Completes all of them, in one of the ways, and empties the list. An error that is no comm::error fails.
void complete(actor &by, std::vector<request> &all,
              const std::function<void(std::size_t, const outcome &)> &ended);

} // namespace fult::comm::testing
