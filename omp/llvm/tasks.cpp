// __kmpc_*: explicit tasks. A task's memory is one block: what the library knows of it, then what the
// compiler knows of it.
#include "omp/core/tasks.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "kmp.hpp"
#include "omp/core/cancel.hpp"
#include "omp/core/depend.hpp"
#include "omp/core/detach.hpp"
#include "omp/core/private_copies.hpp"
#include "omp/core/subjects.hpp"
#include "omp/core/taskgroup.hpp"
#include "omp/core/taskloop.hpp"
#include "omp/core/taskyield.hpp"
#include "omp/core/team.hpp"

using namespace fult::omp;
using kmp::depend_info;
using kmp::location;
using kmp::omp_task_of;
using kmp::task_entry;
using kmp_task = kmp::task;

namespace {

void run_task(void *data) {
    auto *const t = static_cast<kmp_task *>(data);
    t->entry(kmp::thread_id(omp_task_of(t)->at), t);
}

// Private variables with destructors.
void destroy_privates(omp_task *f) {
    if (!f->has(kmp::has_destructors))
        return;
    f->flags &= ~std::uint32_t{kmp::has_destructors};
    f->attach().on_end = nullptr;
    auto *const t = static_cast<kmp_task *>(f->data);
    t->destructors.destructors(f->at ? kmp::thread_id(f->at) : 0, t);
}

// An untied task submits itself before each of its scheduling points and returns; here it goes on at once.
void run_other_parts(omp_task *f) {
    while (f->has(kmp::has_next_part)) {
        f->flags &= ~std::uint32_t{kmp::has_next_part};
        run_task(f->data);
    }
}

void run_task_in_parts(void *data) {
    omp_task *const f = omp_task_of(static_cast<kmp_task *>(data));
    run_task(data);
    run_other_parts(f);
    destroy_privates(f);
}

// A task without an entry: `taskwait depend(...) nowait` of clang 16 and later.
void run_nothing(void *) {}

[[gnu::constructor]] void announce_entries() noexcept {
    find_function_in_data(run_task, offsetof(kmp_task, entry));
    find_function_in_data(run_task_in_parts, offsetof(kmp_task, entry));
}

FULT_NOINLINE omp_task *with_clauses(omp_task *f, std::int32_t flags) {
    if (f->function == run_task)
        f->function = run_task_in_parts;
    if ((flags & kmp::tied_flag) == 0)
        f->flags |= is_untied;
    if ((flags & kmp::final_flag) != 0)
        f->flags |= is_final | generates_slowly;
    if ((flags & kmp::priority_flag) != 0)
        f->flags |= kmp::has_priority;
    if ((flags & kmp::destructors_flag) != 0) {
        f->flags |= kmp::has_destructors;
        f->attach().on_end = destroy_privates; // of a task that is cancelled before its start
    }
    if ((flags & kmp::proxy_flag) != 0)
        make_event(f);
    if ((flags & kmp::detachable_flag) != 0)
        f->flags |= kmp::is_detachable;
    return f;
}

// `count` entries; list may be null then.
class dependence_list {
  public:
    dependence_list(int count, const depend_info *list, int more, const depend_info *others) {
        FULT_ASSERT(count >= 0 && more >= 0);
        const auto all = static_cast<std::size_t>(count) + static_cast<std::size_t>(more);
        if (all > few) {
            many_ = std::make_unique<dependence[]>(all);
            list_ = many_.get();
        }
        add(count, list);
        add(more, others);
    }
    dependence_list(const dependence_list &) = delete;
    dependence_list &operator=(const dependence_list &) = delete;
    const dependence *data() const noexcept { return list_; }
    std::size_t size() const noexcept { return size_; }

  private:
    // omp_all_memory: either of them.
    static constexpr std::uint8_t all_memory = 0x80;
    static constexpr std::uintptr_t all_addresses = ~std::uintptr_t{0};
    void add(int count, const depend_info *list) {
        for (int i = 0; i < count; ++i) {
            const depend_info &d = list[i];
            if ((d.kind & all_memory) != 0 || d.address == all_addresses)
                list_[size_++] = {nullptr, dependence_kind::out};
            else if (d.address != 0)
                list_[size_++] = {reinterpret_cast<const void *>(d.address), kind_of(d.kind)};
        }
    }
    static dependence_kind kind_of(std::uint8_t kind) noexcept {
        switch (kind & 0xf) {
        case 1:
            return dependence_kind::in;
        case 4:
            return dependence_kind::mutexinoutset;
        case 8:
            return dependence_kind::inoutset;
        default:
            return dependence_kind::out;
        }
    }
    static constexpr std::size_t few = 16;
    dependence first_[few];
    std::unique_ptr<dependence[]> many_; // all, if they are more
    dependence *list_ = first_;
    std::size_t size_ = 0;
};

// The compiler gives the dependences of a task with an event to __kmpc_omp_wait_deps, without the task, if it
// is undeferred: then it comes next. So its generator knows it from its event's making to its begin.
void *announce_detaching(omp_task *f) {
    f->parent->attach().detaching = f;
    return make_event(f);
}
void begin_detaching(omp_task *me, const omp_task *f) noexcept {
    if (me->more && me->more->detaching == f)
        me->more->detaching = nullptr;
}

void start(omp_task *me, omp_task *f, const dependence_list *depends) {
    FULT_ASSERT(!f->self, "a task is submitted once");
    begin_detaching(me, f);
    count_child(me, f);
    if (f->has(kmp::has_priority))
        f->attach().priority = static_cast<kmp_task *>(f->data)->priority.priority;
    if (runs_undeferred(me)) {
        if (depends)
            return run_with_dependences(me, f, depends->data(), depends->size());
        return run_undeferred(me, f);
    }
    if (depends)
        submit_with_dependences(me, f, depends->data(), depends->size());
    else
        submit(f);
}

omp_task *allocate(std::int32_t flags, std::size_t size, std::size_t shareds, task_entry entry) {
    omp_task *const me = current_task();
    size = (size + 7) & ~std::size_t{7};
    omp_task *const f = allocate_task(me, size + shareds, 16, 0);
    f->of_data = f;
    f->self = nullptr; // it has not started
    f->at = nullptr;
    f->function = entry ? run_task : run_nothing;
    f->data_size = size + shareds;
    FULT_ASSERT(size >= sizeof(kmp_task), "the compiler's part comes first");
    auto *const t = static_cast<kmp_task *>(f->data);
    t->shareds = shareds != 0 ? reinterpret_cast<char *>(t) + size : nullptr;
    t->entry = entry;
    t->part = 0;
    if (flags != kmp::tied_flag) [[unlikely]]
        return with_clauses(f, flags);
    return f;
}

} // namespace

extern "C" {

kmp_task *__kmpc_omp_task_alloc(location *, int, std::int32_t flags, std::size_t size, std::size_t shareds,
                                task_entry entry) {
    return static_cast<kmp_task *>(allocate(flags, size, shareds, entry)->data);
}
kmp_task *__kmpc_omp_target_task_alloc(location *, int, std::int32_t flags, std::size_t size,
                                       std::size_t shareds, task_entry entry, std::int64_t) {
    return static_cast<kmp_task *>(allocate(flags, size, shareds, entry)->data);
}
int __kmpc_omp_reg_task_with_affinity(location *, int, kmp_task *, int, void *) { return 0; }

int __kmpc_omp_task(location *, int, kmp_task *t) {
    omp_task *const f = omp_task_of(t);
    if (f->self) [[unlikely]] { // it runs: this is its next part
        FULT_ASSERT(!f->has(kmp::has_next_part), "a part submits one other");
        f->flags |= kmp::has_next_part;
        return 0;
    }
    omp_task *const me = f->parent;
    if (f->has(kmp::has_priority | kmp::is_detachable) || runs_undeferred(me)) [[unlikely]] {
        start(me, f, nullptr);
        return 0;
    }
    count_child(me, f);
    submit(f);
    return 0;
}
int __kmpc_omp_task_parts(location *where, int thread, kmp_task *t) {
    return __kmpc_omp_task(where, thread, t);
}

int __kmpc_omp_task_with_deps(location *, int, kmp_task *t, int count, const depend_info *list, int more,
                              const depend_info *others) {
    omp_task *const f = omp_task_of(t);
    const dependence_list depends(count, list, more, others);
    start(f->parent, f, depends.size() != 0 ? &depends : nullptr);
    return 0;
}

void __kmpc_omp_task_begin_if0(location *, int, kmp_task *t) {
    omp_task *const f = omp_task_of(t);
    FULT_ASSERT(!f->self, "a task begins once");
    begin_detaching(f->parent, f);
    count_child(f->parent, f);
    begin_undeferred(f->parent, f);
}
void __kmpc_omp_task_complete_if0(location *, int, kmp_task *t) {
    omp_task *const f = omp_task_of(t);
    FULT_ASSERT(f->self == f->parent->self, "it has begun, undeferred");
    run_other_parts(f);
    destroy_privates(f);
    end_undeferred(f->parent, f);
}
// For code that calls the entry itself.
void __kmpc_invoke_task_func(int, kmp_task *t) { run_task(t); }

int __kmpc_omp_taskwait(location *, int) {
    taskwait(current_task());
    return 0;
}
void __kmpc_omp_wait_deps(location *, int, int count, const depend_info *list, int more,
                          const depend_info *others) {
    omp_task *const me = current_task();
    const dependence_list depends(count, list, more, others);
    if (omp_task *const f = me->more ? std::exchange(me->more->detaching, nullptr) : nullptr)
        await_predecessors(me, f, depends.data(), depends.size());
    else
        await_dependences(me, depends.data(), depends.size());
}
void __kmpc_omp_taskwait_deps_51(location *where, int thread, int count, const depend_info *list, int more,
                                 const depend_info *others, int nowait) {
    if (nowait == 0)
        return __kmpc_omp_wait_deps(where, thread, count, list, more, others);
    kmp_task *const empty =
        __kmpc_omp_task_alloc(where, thread, kmp::tied_flag, sizeof(kmp_task), 0, nullptr);
    __kmpc_omp_task_with_deps(where, thread, empty, count, list, more, others);
}
int __kmpc_omp_taskyield(location *, int, int) {
    taskyield(current_task());
    return 0;
}

void __kmpc_taskgroup(location *, int) { begin_taskgroup(current_task()); }
void __kmpc_end_taskgroup(location *, int) { end_taskgroup_with_copies(current_task()); }

void *__kmpc_task_allow_completion_event(location *, int, kmp_task *t) {
    return announce_detaching(omp_task_of(t));
}
void __kmpc_proxy_task_completed(int, kmp_task *t) { fulfill(omp_task_of(t)->more->event); }
void __kmpc_proxy_task_completed_ooo(kmp_task *t) { fulfill(omp_task_of(t)->more->event); }

} // extern "C"

// taskloop --------------------------------------------------------------------------------------------------------------------

namespace {

using duplicate = void (*)(kmp_task *to, kmp_task *from, int last);

omp_task *copy_task(omp_task *me, kmp_task *pattern, duplicate copy, bool last) {
    const omp_task *const from = omp_task_of(pattern);
    FULT_ASSERT(!from->self && from->parent == me, "a pattern never runs");
    omp_task *const f = allocate_task(me, from->data_size, 16, 0);
    f->of_data = f;
    f->self = nullptr; // it has not started
    f->at = nullptr;
    f->function = from->function;
    f->data_size = from->data_size;
    f->flags = from->flags;
    if (from->more && from->more->on_end)
        f->attach().on_end = from->more->on_end;
    auto *const t = static_cast<kmp_task *>(f->data);
    std::memcpy(static_cast<void *>(t), pattern, from->data_size);
    if (pattern->shareds)
        t->shareds = reinterpret_cast<char *>(t) +
                     (static_cast<char *>(pattern->shareds) - reinterpret_cast<char *>(pattern));
    if (copy)
        copy(t, pattern, last);
    return f;
}

std::uint64_t trip_count(std::uint64_t low, std::uint64_t high, std::int64_t step) noexcept {
    FULT_ASSERT(step != 0);
    return step > 0
               ? (high - low + static_cast<std::uint64_t>(step)) / static_cast<std::uint64_t>(step)
               : (low - high - static_cast<std::uint64_t>(step)) / (0 - static_cast<std::uint64_t>(step));
}

division divide(std::uint64_t count, int clause, std::uint64_t number, bool strict, unsigned threads) {
    enum : int { grain_clause = 1, tasks_clause = 2 };
    const division_by unit = clause == grain_clause
                                 ? strict ? division_by::strict_grain_size : division_by::grain_size
                             : clause == tasks_clause ? division_by::tasks
                                                      : division_by::threads;
    return divide_taskloop(count, unit, number, threads);
}

// `pattern` has the loop's bounds at low and high.
void run_taskloop(omp_task *me, kmp_task *pattern, bool deferred, std::uint64_t *low, std::uint64_t *high,
                  std::int64_t step, const division &by, duplicate copy) {
    const auto offset = [pattern](const std::uint64_t *p) {
        return reinterpret_cast<const char *>(p) - reinterpret_cast<const char *>(pattern);
    };
    const auto low_at = offset(low), high_at = offset(high);
    FULT_ASSERT(low_at > 0 && high_at > 0 &&
                    static_cast<std::uint64_t>(high_at) < omp_task_of(pattern)->data_size,
                "the bounds are private variables of the task");
    std::uint64_t at = *low;
    for (std::uint64_t i = 0; i < by.tasks; ++i) {
        const std::uint64_t next = at + by.iterations(i) * static_cast<std::uint64_t>(step);
        omp_task *const f = copy_task(me, pattern, copy, i == by.tasks - 1);
        std::memcpy(static_cast<char *>(f->data) + low_at, &at, sizeof at);
        const std::uint64_t last = next - static_cast<std::uint64_t>(step);
        std::memcpy(static_cast<char *>(f->data) + high_at, &last, sizeof last);
        at = next;
        if (deferred) {
            start(me, f, nullptr);
        } else {
            count_child(me, f);
            run_undeferred(me, f);
        }
    }
}

void taskloop(kmp_task *pattern, int if_clause, std::uint64_t *low, std::uint64_t *high, std::int64_t step,
              int nogroup, int clause, std::uint64_t number, bool strict, void *copy) {
    omp_task *const me = current_task();
    if (!nogroup)
        begin_taskgroup(me);
    if (const std::uint64_t count = trip_count(*low, *high, step); count != 0 && !is_cancelled(me))
        run_taskloop(me, pattern, if_clause != 0 && me->in()->size > 1, low, high, step,
                     divide(count, clause, number, strict, me->in()->size),
                     reinterpret_cast<duplicate>(copy));
    free_task(omp_task_of(pattern), me->at); // with its private variables, which are the pattern's own
    if (!nogroup)
        end_taskgroup_with_copies(me);
}

} // namespace

extern "C" {
void __kmpc_taskloop(location *, int, kmp_task *pattern, int if_clause, std::uint64_t *low,
                     std::uint64_t *high, std::int64_t step, int nogroup, int clause, std::uint64_t number,
                     void *copy) {
    taskloop(pattern, if_clause, low, high, step, nogroup, clause, number, false, copy);
}
void __kmpc_taskloop_5(location *, int, kmp_task *pattern, int if_clause, std::uint64_t *low,
                       std::uint64_t *high, std::int64_t step, int nogroup, int clause, std::uint64_t number,
                       int modifier, void *copy) {
    taskloop(pattern, if_clause, low, high, step, nogroup, clause, number, modifier != 0, copy);
}
}
