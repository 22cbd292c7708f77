// __kmpc_*: task reductions.
#include <cstddef>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "kmp.hpp"
#include "omp/core/private_copies.hpp"
#include "omp/core/taskgroup.hpp"
#include "omp/core/team.hpp"

using namespace fult::omp;
using kmp::location;

namespace {

using begin_function = void (*)(void *);
using begin_with_function = void (*)(void *, const void *);
using combine_function = void (*)(void *, void *);

// The compiler's descriptions, of OpenMP 4.5 and of 5.0.
struct old_input {
    void *shared;
    std::size_t size;
    void (*begin)(void *);
    void (*end)(void *);
    combine_function combine;
    std::uint32_t flags; // 1: lazy
};
struct input {
    void *shared, *original;
    std::size_t size;
    void (*begin)();
    void (*end)(void *);
    combine_function combine;
    std::uint32_t flags;
};

static_assert(sizeof(old_input) == 48 && offsetof(old_input, combine) == 32, "kmp_task_red_input_t");
static_assert(sizeof(input) == 56 && offsetof(input, size) == 16 && offsetof(input, combine) == 40,
              "kmp_taskred_input_t");

reduced_variable variable_of(const old_input &v) {
    return {v.shared, nullptr, v.size, v.begin, nullptr, v.end, v.combine, (v.flags & 1) != 0};
}
reduced_variable variable_of(const input &v) {
    const bool with = v.begin && v.original; // else begin takes the copy alone
    return {v.shared,
            with ? v.original : nullptr,
            v.size,
            with ? nullptr : reinterpret_cast<begin_function>(v.begin),
            with ? reinterpret_cast<begin_with_function>(v.begin) : nullptr,
            v.end,
            v.combine,
            (v.flags & 1) != 0};
}

template <class Input> std::vector<reduced_variable> variables_of(int count, const Input *list) {
    std::vector<reduced_variable> variables;
    variables.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        variables.push_back(variable_of(list[i]));
    return variables;
}

// In a team of one the tasks reduce into the variable itself.
template <class Input> void *begin(int count, const Input *list) {
    omp_task *const me = current_task();
    if (me->in()->size > 1)
        add_copies(taskgroup_of(me), new private_copies(variables_of(count, list), me->in()->size, 1));
    return me->innermost;
}

// reduction(task, ...) of a region or loop: the first member makes the copies, and the last one combines
// them.
template <class Input> void *begin_shared(int count, const Input *list) {
    omp_task *const me = current_task();
    begin_taskgroup(me);
    if (me->in()->size == 1)
        return me->innermost;
    struct input_list {
        std::vector<reduced_variable> variables;
        unsigned members;
    } from{variables_of(count, list), me->in()->size};
    static constexpr auto setup = [](work_share &w, void *with) {
        const auto &[variables, members] = *static_cast<input_list *>(with);
        w.reductions = new private_copies(variables, members, members);
    };
    work_share *const outer = std::exchange(me->self->work.share, nullptr);
    enter_work(me->self, {}, setup, &from);
    auto *const copies = static_cast<private_copies *>(me->self->work.share->reductions);
    FULT_ASSERT(copies && copies->sharers() == me->in()->size, "the first member has made them");
    copies->share(me->self->number, from.variables); // each member has its own
    leave_work(me->self);
    me->self->work.share = outer;
    add_copies(taskgroup_of(me), copies);
    return me->innermost;
}

} // namespace

extern "C" {

void *__kmpc_task_reduction_init(int, int count, const old_input *list) { return begin(count, list); }
void *__kmpc_taskred_init(int, int count, const input *list) { return begin(count, list); }
void *__kmpc_task_reduction_modifier_init(location *, int, int, int count, const old_input *list) {
    return begin_shared(count, list);
}
void *__kmpc_taskred_modifier_init(location *, int, int, int count, const input *list) {
    return begin_shared(count, list);
}
void __kmpc_task_reduction_modifier_fini(location *, int, int) { end_taskgroup_with_copies(current_task()); }

void *__kmpc_task_reduction_get_th_data(int, const child_counter *group, void *address) {
    const omp_task *const me = current_task();
    return me->in()->size == 1 ? address : find_copy(me, group, address);
}

} // extern "C"
