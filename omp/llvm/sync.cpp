// __kmpc_*: critical sections, reductions of regions and loops, locks.
#include <new>

#include "kmp.hpp"
#include "omp/core/locks.hpp"
#include "omp/core/team.hpp"

using namespace fult::omp;
using kmp::location;

namespace {

// A named critical section's 32 zeroed bytes, of which we use the first word.
using critical_name = simple_lock;
static_assert(sizeof(critical_name) <= 32, "kmp_critical_name");
static_assert(sizeof(simple_lock) <= sizeof(void *), "omp_lock_t is a pointer");

// How a reduction is combined. All members and both calls of one construct find the same.
enum class method { alone, locked, atomics };
method method_of(const location *where, const omp_task *me) noexcept {
    if (me->in()->size == 1)
        return method::alone;
    return where && (where->flags & kmp::atomic_reduce) != 0 ? method::atomics : method::locked;
}
enum : int { combine_here = 1, combine_by_atomics = 2 };

int begin_reduce(const location *where, critical_name *name) {
    switch (method_of(where, current_task())) {
    case method::locked:
        lock_set(name);
        return combine_here;
    case method::atomics:
        return combine_by_atomics;
    default:
        return combine_here;
    }
}
void end_reduce(const location *where, critical_name *name) {
    if (method_of(where, current_task()) == method::locked)
        lock_unset(name);
}

} // namespace

extern "C" {

void __kmpc_critical(location *, int, critical_name *name) { lock_set(name); }
void __kmpc_critical_with_hint(location *, int, critical_name *name, std::uint32_t) { lock_set(name); }
void __kmpc_end_critical(location *, int, critical_name *name) { lock_unset(name); }

int __kmpc_reduce_nowait(location *where, int, int, std::size_t, void *, void (*)(void *, void *),
                         critical_name *name) {
    return begin_reduce(where, name);
}
void __kmpc_end_reduce_nowait(location *where, int, critical_name *name) { end_reduce(where, name); }
int __kmpc_reduce(location *where, int, int, std::size_t, void *, void (*)(void *, void *),
                  critical_name *name) {
    return begin_reduce(where, name);
}
void __kmpc_end_reduce(location *where, int, critical_name *name) {
    end_reduce(where, name);
    team_barrier(current_task()->self, barrier_kind::cancellable);
}

// Locks: a plain one lies in the variable, a nested one, which is larger, on the heap.
void __kmpc_init_lock(location *, int, simple_lock *l) { lock_init(l); }
void __kmpc_init_lock_with_hint(location *, int, simple_lock *l, std::uintptr_t) { lock_init(l); }
void __kmpc_destroy_lock(location *, int, simple_lock *) {}
void __kmpc_set_lock(location *, int, simple_lock *l) { lock_set(l); }
void __kmpc_unset_lock(location *, int, simple_lock *l) { lock_unset(l); }
int __kmpc_test_lock(location *, int, simple_lock *l) { return lock_test(l); }

void omp_init_nest_lock(nested_lock **l) { nested_init(*l = new nested_lock); }
void omp_init_nest_lock_with_hint(nested_lock **l, int) { omp_init_nest_lock(l); }
void omp_destroy_nest_lock(nested_lock **l) { delete *l; }
void omp_set_nest_lock(nested_lock **l) { nested_set(*l); }
void omp_unset_nest_lock(nested_lock **l) { nested_unset(*l); }
int omp_test_nest_lock(nested_lock **l) { return nested_test(*l); }

void omp_init_lock_with_hint_(simple_lock *l, const int *) { lock_init(l); }
void omp_init_nest_lock_with_hint_(nested_lock **l, const int *) { omp_init_nest_lock(l); }

void __kmpc_init_nest_lock(location *, int, nested_lock **l) { omp_init_nest_lock(l); }
void __kmpc_init_nest_lock_with_hint(location *, int, nested_lock **l, std::uintptr_t) {
    omp_init_nest_lock(l);
}
void __kmpc_destroy_nest_lock(location *, int, nested_lock **l) { delete *l; }
void __kmpc_set_nest_lock(location *, int, nested_lock **l) { nested_set(*l); }
void __kmpc_unset_nest_lock(location *, int, nested_lock **l) { nested_unset(*l); }
int __kmpc_test_nest_lock(location *, int, nested_lock **l) { return nested_test(*l); }

} // extern "C"
