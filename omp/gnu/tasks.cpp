// GOMP_*: explicit tasks.
#include "omp/core/tasks.hpp"

#include <cstring>
#include <memory>

#include <fult/detail/assertion.hpp>

#include "gnu.hpp"
#include "omp/core/cancel.hpp"
#include "omp/core/depend.hpp"
#include "omp/core/detach.hpp"
#include "omp/core/reductions.hpp"
#include "omp/core/taskgroup.hpp"
#include "omp/core/taskloop.hpp"
#include "omp/core/taskyield.hpp"
#include "omp/core/team.hpp"

using namespace fult::omp;

namespace {

enum task_flag : unsigned {
    untied_flag = 1,
    final_flag = 2,
    mergeable_flag = 4,
    depend_flag = 8,
    priority_flag = 0x10,
    up_flag = 0x100,
    grainsize_flag = 0x200,
    if_flag = 0x400,
    nogroup_flag = 0x800,
    reduction_flag = 0x1000,
    detach_flag = 0x2000,
    strict_flag = 0x4000,
};

// Those of a task without dependences, a priority or an event.
constexpr unsigned deferred_flags = untied_flag | mergeable_flag, plain_flags = deferred_flags | final_flag;

std::uint32_t task_flags_of(unsigned flags) noexcept {
    return ((flags & final_flag) != 0 ? is_final | generates_slowly : 0u) |
           ((flags & untied_flag) != 0 ? std::uint32_t{is_untied} : 0u);
}

// The compiler's dependence array.
class dependence_list {
  public:
    explicit dependence_list(void **d) {
        const bool old = d[0] || !d[1]; // both zero: empty iterators, and no word follows
        const auto at = [d](std::size_t i) { return reinterpret_cast<std::size_t>(d[i]); };
        const std::size_t count = old ? at(0) : at(1), outs = old ? at(1) : at(2), mutexes = old ? 0 : at(3),
                          ins = old ? count - outs : at(4), from = old ? 2 : 5;
        FULT_ASSERT(outs + mutexes <= count && outs + mutexes + ins <= count,
                    "the kinds of the array add up");
        if (count > few) {
            others_ = std::make_unique<dependence[]>(count);
            list_ = others_.get();
        }
        for (std::size_t i = 0; i < count; ++i)
            if (i < outs)
                add({d[from + i], dependence_kind::out});
            else if (i < outs + mutexes)
                add({d[from + i], dependence_kind::mutexinoutset});
            else if (i < outs + mutexes + ins)
                add({d[from + i], dependence_kind::in});
            else
                add(of_object(static_cast<void **>(d[from + i])));
    }
    dependence_list(const dependence_list &) = delete;
    dependence_list &operator=(const dependence_list &) = delete;
    const dependence *data() const noexcept { return list_; }
    std::size_t size() const noexcept { return size_; }

  private:
    void add(dependence d) noexcept { list_[size_++] = d; }
    static dependence of_object(void **object) noexcept { // an omp_depend_t
        switch (reinterpret_cast<std::uintptr_t>(object[1])) {
        case 1:
            return {object[0], dependence_kind::in};
        case 4:
            return {object[0], dependence_kind::mutexinoutset};
        case 5:
            return {object[0], dependence_kind::inoutset};
        default:
            return {object[0], dependence_kind::out};
        }
    }
    static constexpr std::size_t few = 16;
    dependence first_[few];
    std::unique_ptr<dependence[]> others_; // all, if they are more
    dependence *list_ = first_;
    std::size_t size_ = 0;
};

// The data of nearly all tasks: some words.
constexpr std::size_t small_data = min_block - sizeof(omp_task);
static_assert(block_class(sizeof(omp_task) + small_data) == 0 && sizeof(omp_task) % 16 == 0);
constexpr bool is_small(long size, long align) noexcept {
    return static_cast<std::size_t>(size) <= small_data && size % 4 == 0 && align <= 16;
}
FULT_ALWAYS_INLINE void copy_small(void *to, const void *from, std::size_t size) noexcept {
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8)
        std::memcpy(static_cast<char *>(to) + i, static_cast<const char *>(from) + i, 8);
    if (i != size)
        std::memcpy(static_cast<char *>(to) + i, static_cast<const char *>(from) + i, 4);
}

void copy_data(omp_task *f, void *data, void (*copy)(void *, void *), std::size_t size) {
    if (copy) {
        copy(f->data, data);
        f->flags |= owns_objects;
    } else if (size != 0) {
        std::memcpy(f->data, data, size);
    }
}

// The arguments are GOMP_task's, so that a call is a jump.
FULT_NOINLINE void task_with_clauses(void (*fn)(void *), void *data, void (*copy)(void *, void *), long bytes,
                                     long alignment, bool deferred, unsigned flags, void **depend,
                                     int priority, void *detach) {
    const auto size = static_cast<std::size_t>(bytes), align = static_cast<std::size_t>(alignment);
    omp_task *const me = current_task();
    if (is_cancelled(me))
        return;
    // Without an if clause that forbids it, a task may run later than its generation: then what fulfils the
    // event of a predecessor may come after it.
    const bool may_follow = deferred && has_dependent_children(me);
    deferred = deferred && !runs_undeferred(me) && (flags & final_flag) == 0;
    omp_task *const f = new_task(me, size, align, task_flags_of(flags));
    if ((flags & priority_flag) != 0)
        f->attach().priority = priority;
    if ((flags & detach_flag) != 0) {
        // the compiler's data holds the handle as well: it is copied below
        void *const handle = make_event(f);
        *static_cast<void **>(detach) = handle;
        if (data)
            *static_cast<void **>(data) = handle;
    }
    const bool depends = (flags & depend_flag) != 0;
    f->function = fn;
    if (!deferred && !(may_follow && depends)) {
        if (depends) {
            const dependence_list list(depend);
            await_predecessors(me, f, list.data(), list.size());
        }
        if (copy || (f->more && f->more->block)) // freed with the task
            copy_data(f, data, copy, size);
        else
            f->data = data;
        run_undeferred(me, f);
        return;
    }
    copy_data(f, data, copy, size);
    if (depends) {
        const dependence_list list(depend);
        (deferred ? submit_with_dependences : run_with_dependences)(me, f, list.data(), list.size());
    } else {
        submit(f);
    }
}

// Of a task whose data the compiler's function copies, arrays for instance, or which are more than some
// words.
FULT_NOINLINE void submit_copied(omp_task *me, void (*fn)(void *), void *data, void (*copy)(void *, void *),
                                 std::size_t size, std::size_t align, unsigned flags) {
    omp_task *const f = new_task(me, size, align, (flags & untied_flag) * is_untied);
    f->function = fn;
    copy_data(f, data, copy, size);
    submit(f);
}

// Of a task without clauses that runs at once, in place of its parent: so it is tied.
FULT_NOINLINE void run_plain_here(void (*fn)(void *), void *data, unsigned flags, omp_task **word) {
    run_plain(*word, *word, fn, data, task_flags_of(flags & final_flag));
}

// On a foreign thread, or in a task of the runtime's that is not OpenMP's. The arguments are GOMP_task's.
FULT_NOINLINE void task_elsewhere(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                                  long align, bool if_clause, unsigned flags, void **depend, int priority,
                                  void *detach) {
    if (copy || (flags & ~plain_flags) != 0 || cancellation_enabled ||
        !run_plain_elsewhere(fn, data, task_flags_of(flags), if_clause))
        task_with_clauses(fn, data, copy, size, align, if_clause, flags, depend, priority, detach);
}

} // namespace

extern "C" {

void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
               bool if_clause, unsigned flags, void **depend, int priority, void *detach) {
    omp_task **const word = current_task_word();
    if (!word) [[unlikely]]
        return task_elsewhere(fn, data, copy, size, align, if_clause, flags, depend, priority, detach);
    omp_task *const me = *word;
    if (if_clause && (flags & ~deferred_flags) == 0 && !me->has(generates_slowly)) {
        if (!copy && is_small(size, align) && can_submit_fast(me)) [[likely]] {
            omp_task *const f = new_small_task(me, (flags & untied_flag) * is_untied);
            f->function = fn;
            copy_small(f + 1, data, static_cast<std::size_t>(size));
            return submit_fast(f, me->newest_child);
        }
        return submit_copied(me, fn, data, copy, static_cast<std::size_t>(size),
                             static_cast<std::size_t>(align), flags);
    }
    if (!copy && (flags & ~plain_flags) == 0 && !cancellation_enabled)
        return run_plain_here(fn, data, flags, word);
    task_with_clauses(fn, data, copy, size, align, if_clause, flags, depend, priority, detach);
}

void GOMP_taskwait() { taskwait(current_task()); }
void GOMP_taskwait_depend(void **depend) {
    const dependence_list list(depend);
    await_dependences(current_task(), list.data(), list.size());
}
// gcc 14: `taskwait depend(...) nowait`.
void GOMP_taskwait_depend_nowait(void **depend) {
    GOMP_task([](void *) {}, nullptr, nullptr, 0, 1, true, depend_flag, depend, 0, nullptr);
}
void GOMP_taskyield() { taskyield(current_task()); }

void GOMP_taskgroup_start() { begin_taskgroup(current_task()); }
void GOMP_taskgroup_end() { end_taskgroup(current_task()); }

void GOMP_taskgroup_reduction_register(std::uintptr_t *data) {
    omp_task *const me = current_task();
    register_reductions(taskgroup_of(me)->reductions, data, me->in()->size);
}
void GOMP_taskgroup_reduction_unregister(std::uintptr_t *data) { free_reductions(data); }
void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void **pointers) {
    remap_reductions(current_task(), count, originals, pointers);
}

void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    end_work_reductions(current_task(), cancelled);
}

} // extern "C"

// taskloop --------------------------------------------------------------------------------------------------------------------

namespace {

division divide(std::uint64_t count, unsigned flags, std::uint64_t num, unsigned threads) {
    const division_by unit = (flags & grainsize_flag) == 0 ? division_by::tasks
                             : (flags & strict_flag) != 0  ? division_by::strict_grain_size
                                                           : division_by::grain_size;
    return divide_taskloop(count, unit, num, threads);
}

template <class T>
void taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
              unsigned flags, unsigned long num, int priority, T start, T end, T step) {
    omp_task *const me = current_task();
    bool up = (flags & up_flag) != 0;
    if constexpr (std::is_signed_v<T>)
        up = step > 0;
    FULT_ASSERT(step != 0);
    const std::uint64_t count = trip_count(up, start, end, step);
    const bool group = (flags & nogroup_flag) == 0;
    if (count == 0 || is_cancelled(me)) {
        if ((flags & reduction_flag) != 0 &&
            group) // the compiler's code after the loop: there is nothing to combine
            (*reinterpret_cast<std::uintptr_t **>(static_cast<T *>(data) + 2))[2] = 0;
        return;
    }
    if (group) {
        begin_taskgroup(me);
        if ((flags & reduction_flag) != 0)
            register_reductions(taskgroup_of(me)->reductions,
                                *reinterpret_cast<std::uintptr_t **>(static_cast<T *>(data) + 2),
                                me->in()->size);
    }
    const division by = divide(count, flags, num, me->in()->size);
    const bool deferred = (flags & if_flag) != 0 && !runs_undeferred(me) && (flags & final_flag) == 0;
    T at = start;
    for (std::uint64_t i = 0; i < by.tasks; ++i) {
        const std::uint64_t n = by.iterations(i);
        const std::uint64_t next = static_cast<std::uint64_t>(at) + n * static_cast<std::uint64_t>(step);
        const T stop = static_cast<T>(next);
        omp_task *const f = new_task(me, static_cast<std::size_t>(size), static_cast<std::size_t>(align),
                                     task_flags_of(flags));
        f->function = fn;
        if ((flags & priority_flag) != 0)
            f->attach().priority = priority;
        copy_data(f, data, copy, static_cast<std::size_t>(size));
        static_cast<T *>(f->data)[0] = at;
        static_cast<T *>(f->data)[1] = stop;
        at = stop;
        if (deferred)
            submit(f);
        else
            run_undeferred(me, f);
    }
    FULT_ASSERT(static_cast<std::uint64_t>(at) ==
                    static_cast<std::uint64_t>(start) + count * static_cast<std::uint64_t>(step),
                "the tasks have all iterations");
    if (group)
        end_taskgroup(me);
}

} // namespace

extern "C" {
void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                   unsigned flags, unsigned long num, int priority, long start, long end, long step) {
    taskloop<long>(fn, data, copy, size, align, flags, num, priority, start, end, step);
}
void GOMP_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                       unsigned flags, unsigned long num, int priority, unsigned long long start,
                       unsigned long long end, unsigned long long step) {
    taskloop<unsigned long long>(fn, data, copy, size, align, flags, num, priority, start, end, step);
}
}
