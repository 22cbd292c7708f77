// __kmpc_*: parallel regions, teams, barriers, single, masked, cancellation.
#include <algorithm>
#include <alloca.h>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <utility>

#include "fult/base/sanitizer.hpp"
#include "kmp.hpp"
#include "omp/core/cancel.hpp"
#include "omp/core/error.hpp"
#include "omp/core/subjects.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"

using namespace fult::omp;
using kmp::location;

namespace {

// Outlined code: void (int *thread_id, int *thread_number, captured...), all pointers.
using microtask = void (*)();

template <std::size_t... I>
void call_with(microtask f, int *id, int *number, void **arguments, std::index_sequence<I...>) {
    using function = void (*)(int *, int *, decltype(static_cast<void *>(arguments[I]))...);
    reinterpret_cast<function>(f)(id, number, arguments[I]...);
}

// Arguments beyond those that a function takes do no harm in the C calling conventions: a few lengths serve
// all. The array is as long as the least of them that suffices.
constexpr int lengths[] = {4, 14, 30, 62, 254};
static_assert(lengths[0] == 4 && lengths[1] == 14 && lengths[2] == 30 && lengths[3] == 62 &&
                  lengths[4] == 254,
              "those of call");
int length_for(int count) {
    for (const int n : lengths)
        if (count <= n)
            return n;
    fail("a region captures %d variables: more than %d are not supported", count, lengths[4]);
}
void call(microtask f, int *id, int *number, int length, void **arguments) {
    switch (length) {
    case 4:
        return call_with(f, id, number, arguments, std::make_index_sequence<4>{});
    case 14:
        return call_with(f, id, number, arguments, std::make_index_sequence<14>{});
    case 30:
        return call_with(f, id, number, arguments, std::make_index_sequence<30>{});
    case 62:
        return call_with(f, id, number, arguments, std::make_index_sequence<62>{});
    default:
        FULT_ASSERT(length == lengths[4]);
        return call_with(f, id, number, arguments, std::make_index_sequence<254>{});
    }
}

struct region_call {
    microtask function;
    int length;
    void **arguments;
};

// A member's part.
void run_part(void *data) {
    const auto &[function, length, arguments] = *static_cast<const region_call *>(data);
    const omp_task *const me = current_task();
    int id = kmp::thread_id(me->at), number = static_cast<int>(me->self->number);
    call(function, &id, &number, length, arguments);
}

[[gnu::constructor]] void announce_regions() noexcept {
    find_function_in_data(run_part, offsetof(region_call, function));
}

// Clauses of the construct that comes next, on this thread.
struct pushed_clauses {
    unsigned threads = 0, teams = 0, thread_limit = 0;
    int bind = 0;
};
thread_local pushed_clauses pushed;
// clang has a number of its own for `primary`, beside that of `master`.
int bind_of_clause(int number) noexcept {
    constexpr int clangs_primary = 5;
    if (number == clangs_primary)
        return static_cast<int>(bind_policy::primary);
    return number >= 0 && number <= static_cast<int>(bind_policy::spread) ? number : 0;
}
unsigned positive(int n) noexcept { return n > 0 ? static_cast<unsigned>(n) : 0; }

void run_region(region_call &c) {
    const unsigned threads = std::exchange(pushed.threads, 0);
    region_options with;
    with.bind = std::exchange(pushed.bind, 0);
    team *const t = open_region(run_part, &c, resolve_size(current_task(), threads), with);
    run_part(&c);
    close_region(t);
}

void gather(void **arguments, int count, int length, std::va_list rest) {
    FULT_ASSERT(count >= 0 && count <= length);
    for (int i = 0; i < count; ++i)
        arguments[i] = va_arg(rest, void *);
    std::fill(arguments + count, arguments + length, nullptr);
}
// A call with the variable arguments behind `function`, on the caller's stack.
// NOLINTBEGIN(bugprone-macro-parentheses): a declared name
#define FULT_REGION_CALL(name, count, function)                                                           \
    region_call name{function, length_for(count), nullptr};                                               \
    name.arguments = static_cast<void **>(::alloca(sizeof(void *) * static_cast<unsigned>(name.length))); \
    std::va_list rest;                                                                                    \
    va_start(rest, function);                                                                             \
    gather(name.arguments, count, name.length, rest);                                                     \
    va_end(rest)
// NOLINTEND(bugprone-macro-parentheses)

} // namespace

namespace fult::omp::kmp {
void begin_serial_region() {
    pushed.threads = 0;
    pushed.bind = 0;
    open_region(nullptr, nullptr, 1);
}
void end_serial_region() { close_region(current_task()->in()); }
} // namespace fult::omp::kmp

extern "C" {

void __kmpc_begin(location *, int) {}
void __kmpc_end(location *) {}
int __kmpc_ok_to_fork(location *) { return 1; }

int __kmpc_global_thread_num(location *) { return kmp::thread_id(current_task()->at); }
int __kmpc_global_num_threads(location *) { return static_cast<int>(current_task()->in()->size); }
int __kmpc_bound_thread_num(location *) { return static_cast<int>(current_task()->self->number); }
int __kmpc_bound_num_threads(location *) { return static_cast<int>(current_task()->in()->size); }
int __kmpc_in_parallel(location *) { return current_task()->in()->active_level > 0; }

void __kmpc_push_num_threads(location *, int, int threads) { pushed.threads = positive(threads); }
void __kmpc_pop_num_threads(location *, int) {}
void __kmpc_push_proc_bind(location *, int, int policy) { pushed.bind = bind_of_clause(policy); }
void __kmpc_push_num_teams(location *, int, int teams, int threads) {
    pushed.teams = positive(teams);
    pushed.thread_limit = positive(threads);
}
void __kmpc_push_num_teams_51(location *, int, int low, int high, int threads) {
    pushed.teams = positive(high > 0 ? high : low);
    pushed.thread_limit = positive(threads);
}
void __kmpc_set_thread_limit(location *, int, int threads) { pushed.thread_limit = positive(threads); }

void __kmpc_fork_call(location *, int count, microtask function, ...) {
    FULT_REGION_CALL(c, count, function);
    run_region(c);
}

void __kmpc_fork_call_if(location *, int count, microtask function, int condition, void *argument) {
    void *arguments[4] = {argument};
    region_call c{function, length_for(count), arguments};
    if (condition)
        return run_region(c);
    kmp::begin_serial_region();
    run_part(&c);
    kmp::end_serial_region();
}

void __kmpc_serialized_parallel(location *, int) { kmp::begin_serial_region(); }
void __kmpc_end_serialized_parallel(location *, int) { kmp::end_serial_region(); }

void __kmpc_fork_teams(location *, int count, microtask function, ...) {
    FULT_REGION_CALL(c, count, function);
    run_league(run_part, &c, std::exchange(pushed.teams, 0), std::exchange(pushed.thread_limit, 0));
}

void __kmpc_flush(location *) {
#if defined(FULT_TSAN) // it does not know fences: each flush follows all before it
    static constinit std::atomic<int> flushes{0};
    flushes.fetch_add(0, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// One in a function that the region calls has no other name, and ends with a cancelled region too.
void __kmpc_barrier(location *, int) { team_barrier(current_task()->self, barrier_kind::cancellable); }
// The first of the team goes on alone between these two.
int __kmpc_barrier_master(location *, int) {
    team_member *const m = current_task()->self;
    team_barrier(m);
    if (m->number == 0)
        return 1;
    team_barrier(m);
    return 0;
}
void __kmpc_end_barrier_master(location *, int) { team_barrier(current_task()->self); }
int __kmpc_barrier_master_nowait(location *, int) {
    team_member *const m = current_task()->self;
    team_barrier(m);
    return m->number == 0;
}

int __kmpc_master(location *, int) { return current_task()->self->number == 0; }
void __kmpc_end_master(location *, int) {}
int __kmpc_masked(location *, int, int number) {
    return static_cast<int>(current_task()->self->number) == number;
}
void __kmpc_end_masked(location *, int) {}
void __kmpc_scope(location *, int, void *) {}
void __kmpc_end_scope(location *, int, void *) {}

int __kmpc_single(location *, int) { return take_single(current_task()->self); }
void __kmpc_end_single(location *, int) {}
void __kmpc_copyprivate(location *, int, std::size_t, void *data, void (*copy)(void *to, void *from),
                        int did_it) {
    omp_task *const me = current_task();
    if (did_it)
        me->in()->copied = data;
    team_barrier(me->self);
    if (!did_it)
        copy(data, me->in()->copied);
    team_barrier(me->self); // the data may be overwritten from here on
}

// Cancellation ----------------------------------------------------------------------------------------------------------------

namespace {
enum : int { region_kind = 1, loop_kind = 2, sections_kind = 3, taskgroup_kind = 4 };
}
int __kmpc_cancel(location *, int, int kind) {
    omp_task *const me = current_task();
    if (kind == loop_kind || kind == sections_kind)
        return cancel_construct(me, true);
    return cancel(me, kind == taskgroup_kind ? cancel_taskgroup : cancel_parallel, true);
}
int __kmpc_cancellationpoint(location *, int, int kind) {
    omp_task *const me = current_task();
    if (kind == loop_kind || kind == sections_kind)
        return cancel_construct(me, false);
    return cancellation_point(me, kind == taskgroup_kind ? cancel_taskgroup : cancel_parallel);
}
int __kmpc_cancel_barrier(location *, int) { return end_cancellable(current_task()); }

void __kmpc_error(location *where, int severity, const char *message) {
    const char *const at = where && where->source ? where->source : "";
    if (severity == 2)
        fail("%s (%s)", message, at);
    warn("%s (%s)", message, at);
}

} // extern "C"
