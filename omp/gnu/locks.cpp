// What libgomp alone has. omp_*: nested locks, which lie in the variable itself.
#include "omp/core/locks.hpp"

#include "omp/api/own_compiler.hpp"

using namespace fult::omp;

const compiler_facts own_compiler{201511, schedule_kind::dynamic}; // gcc 6 to 15

namespace {
struct at_load {
    at_load() { display_environment_at_load(own_compiler); }
} const at_load_;
} // namespace

extern "C" {
void omp_init_nest_lock(nested_lock *l) { nested_init(l); }
void omp_init_nest_lock_with_hint(nested_lock *l, int) { nested_init(l); }
void omp_destroy_nest_lock(nested_lock *) {}
void omp_set_nest_lock(nested_lock *l) { nested_set(l); }
void omp_unset_nest_lock(nested_lock *l) { nested_unset(l); }
int omp_test_nest_lock(nested_lock *l) { return nested_test(l); }
}
