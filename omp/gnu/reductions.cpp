#include "omp/core/reductions.hpp"

#include <algorithm>

#include "gnu.hpp"
#include "omp/core/icv.hpp"
#include "omp/core/taskgroup.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"

namespace fult::omp {

// Each member has descriptors of its own, which the compiler's code reads. They get the memory of the first
// member's, which travel through a work share of the team.
void start_reductions(omp_task *me, std::uintptr_t *reductions) {
    begin_taskgroup(me);
    taskgroup_of(me)->of_construct = true;
    static constexpr auto setup = [](work_share &w, void *with) {
        auto &[group, descriptors, threads] = *static_cast<reduction_setup *>(with);
        register_reductions(group->reductions, descriptors, threads);
        w.reductions = descriptors;
    };
    reduction_setup with{taskgroup_of(me), reductions, me->in()->size};
    if (!enter_work(me->self, {}, setup, &with)) {
        FULT_ASSERT(me->self->work.share->reductions, "the first member has registered them");
        share_reductions(taskgroup_of(me)->reductions, reductions,
                         static_cast<std::uintptr_t *>(me->self->work.share->reductions));
    }
    leave_work(me->self);
}

// The end of a work-sharing construct with task reductions. The last member frees the memory.
void end_work_reductions(omp_task *me, bool cancelled) {
    auto *const descriptors = static_cast<std::uintptr_t *>(taskgroup_of(me)->reductions);
    end_taskgroup(me);
    if (!cancelled)
        team_barrier(me->self);
    const unsigned before = me->in()->reductions_left.fetch_add(1, std::memory_order_acq_rel);
    FULT_ASSERT(before < me->in()->size, "each member leaves once");
    if (before == me->in()->size - 1) {
        me->in()->reductions_left.store(0, std::memory_order_relaxed);
        free_reductions(descriptors);
    }
    if (!cancelled)
        team_barrier(me->self);
}

} // namespace fult::omp
