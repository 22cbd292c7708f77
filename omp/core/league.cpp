// Teams of one initial thread: those of a league, and target regions.
#include <algorithm>

#include "icv.hpp"
#include "team.hpp"

namespace fult::omp {

void run_initial(void (*function)(void *), void *data, league_position league, unsigned thread_limit) {
    FULT_ASSERT(league.number < league.teams);
    region_options with;
    with.is_initial = true;
    with.league = league;
    with.thread_limit = static_cast<int>(std::min(thread_limit, 0x7fffffffu));
    team *const t = open_region(function, data, 1, with);
    function(data);
    close_region(t);
}

void run_league(void (*function)(void *), void *data, unsigned teams, unsigned thread_limit) {
    const icv_set &v = *current_frame()->icvs();
    if (teams == 0)
        teams = v.teams > 0 ? static_cast<unsigned>(v.teams) : 1;
    if (thread_limit == 0)
        thread_limit = static_cast<unsigned>(v.teams_thread_limit);
    for (unsigned i = 0; i < teams; ++i)
        run_initial(function, data, {teams, i}, thread_limit);
}

} // namespace fult::omp
