// Teams of one initial thread: those of a league, and target regions.
#include <algorithm>

#include "icv.hpp"
#include "team.hpp"

namespace fult::omp {

namespace {
void run_initial(void (*function)(void *), void *data, unsigned thread_limit, region_options with) {
    FULT_ASSERT(with.league.number < with.league.teams);
    with.is_initial = true;
    with.thread_limit = static_cast<int>(std::min(thread_limit, unsigned{no_thread_limit}));
    team *const t = open_region(function, data, 1, with);
    function(data);
    close_region(t);
}
} // namespace

void run_target(void (*function)(void *), void *data, unsigned thread_limit) {
    region_options with;
    with.on_device = true;
    run_initial(function, data, thread_limit, with);
}

void run_league(void (*function)(void *), void *data, unsigned teams, unsigned thread_limit) {
    const icv_set &v = *current_task()->icvs();
    if (teams == 0)
        teams = v.teams > 0 ? static_cast<unsigned>(v.teams) : 1;
    if (thread_limit == 0)
        thread_limit = static_cast<unsigned>(v.teams_thread_limit);
    for (unsigned i = 0; i < teams; ++i) {
        region_options with;
        with.league = {teams, i};
        run_initial(function, data, thread_limit, with);
    }
}

} // namespace fult::omp
