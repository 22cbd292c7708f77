#include <fult/sync/sleep.hpp>

namespace fult::detail {

// This waiter is never granted.
bool sleep_within(const wait_limits &limits) {
    waiter w;
    w.wait_long(limits, {"sleep"});
    return !limits.stop() || !limits.stop()->stop_requested() || steady_clock::now() >= limits.deadline();
}

} // namespace fult::detail
