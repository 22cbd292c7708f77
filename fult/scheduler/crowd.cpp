#include "crowd.hpp"

#include "worker.hpp"

namespace fult::detail {

// First the hint, then a second look (tests/model/levels.pml).
void crowd::forget_if_empty(const worker &home) noexcept {
    if (home.sources.may_have_stealable(home, true))
        return;
    shown.remove(home.index);
    if (!home.sources.may_have_stealable(home, true))
        return;
    shown.add(home.index);
    home.team.wake_for(home, false); // a worker may have looked in between
}

} // namespace fult::detail
