// What libgomp alone has. omp_*: nested locks, which lie in the variable itself.
#include "omp/core/locks.hpp"

#include "omp/api/default_schedule.hpp"

using namespace fult::omp;

const schedule_kind default_schedule = schedule_kind::dynamic;

extern "C" {
void omp_init_nest_lock(nested_lock *l) { nested_init(l); }
void omp_init_nest_lock_with_hint(nested_lock *l, int) { nested_init(l); }
void omp_destroy_nest_lock(nested_lock *) {}
void omp_set_nest_lock(nested_lock *l) { nested_set(l); }
void omp_unset_nest_lock(nested_lock *l) { nested_unset(l); }
int omp_test_nest_lock(nested_lock *l) { return nested_test(l); }
}
