// GOMP_*: loops and sections.
#include <cstdarg>
#include <cstring>
#include <memory>
#include <type_traits>

#include <fult/detail/assertion.hpp>

#include "gnu.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"
#include "omp/core/workshare.hpp"

using namespace fult::omp;

namespace {

using ull = unsigned long long;

team_member *self() { return current_task()->self; }

template <class T> iteration_space space_of(bool up, T start, T end, T step) noexcept {
    FULT_ASSERT(step != 0);
    return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(step),
            trip_count(up, start, end, step)};
}

template <class T> iteration_space space_of(T start, T end, T step) noexcept {
    return space_of<T>(step > 0, start, end, step);
}

// Of a doacross loop: the iterations of the outermost loop.
template <class T> iteration_space space_of(const T *counts) noexcept {
    return {0, 1, static_cast<std::uint64_t>(counts[0])};
}

// The values of the next chunk.
template <class T> bool next_values(T *first, T *last) {
    team_member *const m = self();
    std::uint64_t low = 0, high = 0;
    if (!next_chunk(m, low, high))
        return false;
    const iteration_space &s = m->work.share->shape.space;
    const std::uint64_t begin = s.first + low * s.step, end = s.first + high * s.step;
    *first = static_cast<T>(begin);
    *last = static_cast<T>(end);
    return true;
}

enum class chunk_order { any, rising, ordered }; // ordered: with an ordered region

template <class T>
loop_shape shape_of(const iteration_space &space, schedule_kind kind, T chunk, chunk_order order) noexcept {
    return {space, kind, static_cast<std::uint64_t>(chunk), order == chunk_order::ordered,
            order == chunk_order::any};
}

// With schedule(runtime): what the control variable says.
loop_shape runtime_shape(const iteration_space &space, chunk_order order) {
    const icv_set &v = *current_task()->icvs();
    if (v.monotonic && order == chunk_order::any)
        order = chunk_order::rising;
    constexpr schedule_kind gccs = schedule_kind::dynamic;
    return shape_of(space, v.schedule_or(gccs), v.chunk_or_default(gccs), order);
}

// gcc's number of a schedule: 0 runtime, 1 static, 2 dynamic, 3 guided, 4 auto; the top bit: monotonic.
template <class T>
loop_shape shape_of_number(const iteration_space &space, long schedule, T chunk, bool ordered = false) {
    const chunk_order order = ordered ? chunk_order::ordered
                              : (static_cast<unsigned long>(schedule) & monotonic_bit) != 0
                                  ? chunk_order::rising
                                  : chunk_order::any;
    switch (schedule & 0xff) {
    case 1:
        return shape_of(space, schedule_kind::fixed, chunk, order);
    case 2:
        return shape_of(space, schedule_kind::dynamic, chunk, order);
    case 3:
        return shape_of(space, schedule_kind::guided, chunk, order);
    case 4:
        return shape_of(space, schedule_kind::fixed, 0, order);
    default:
        return runtime_shape(space, order);
    }
}

// What the first member sets up.
struct construct_setup {
    unsigned dimensions = 0;              // of a doacross loop: the number of collapsed loops,
    const std::int64_t *counts = nullptr; // and the iterations of each
    std::size_t memory = 0;               // zeroed bytes that the members share during the construct
};
void set_up(work_share &w, void *with) {
    const auto &s = *static_cast<construct_setup *>(with);
    if (s.dimensions != 0)
        setup_doacross(w, s.dimensions, s.counts);
    if (s.memory != 0)
        w.memory = std::memset(::operator new(s.memory), 0, s.memory);
}

// `memory`: in, the size; out, the address.
void enter(const loop_shape &shape, std::uintptr_t *reductions, void **memory, construct_setup with = {}) {
    omp_task *const me = current_task();
    if (reductions)
        start_reductions(me, reductions);
    with.memory = memory ? reinterpret_cast<std::size_t>(*memory) : 0;
    enter_work(me->self, shape, &set_up, &with);
    if (memory)
        *memory = me->self->work.share->memory;
}

template <class T>
bool start_loop(const loop_shape &shape, T *first, T *last, std::uintptr_t *reductions = nullptr,
                void **memory = nullptr) {
    enter(shape, reductions, memory);
    return first ? next_values(first, last) : true;
}

// Leaves a loop: a chunk with an ordered region is passed on.
void leave() { leave_work(self()); }

// Doacross: the outermost loop's iterations are shared out; each iteration vector is posted and awaited.
// A number for each of the collapsed loops.
class loop_numbers {
  public:
    template <class Get>
    loop_numbers(unsigned count, const Get &get)
        : many_(count > few ? std::make_unique<std::int64_t[]>(count) : nullptr) {
        FULT_ASSERT(count != 0);
        for (unsigned i = 0; i < count; ++i)
            data()[i] = static_cast<std::int64_t>(get(i));
    }
    std::int64_t *data() noexcept { return many_ ? many_.get() : first_; }

  private:
    static constexpr unsigned few = 8;
    std::int64_t first_[few];
    std::unique_ptr<std::int64_t[]> many_; // all, if they are more
};
template <class T>
bool start_doacross(unsigned dimensions, const T *counts, loop_shape shape, T *first, T *last,
                    std::uintptr_t *reductions = nullptr, void **memory = nullptr) {
    shape.any_order = false; // iterations wait for earlier ones
    loop_numbers numbers(dimensions, [counts](unsigned i) { return counts[i]; });
    enter(shape, reductions, memory, {dimensions, numbers.data()});
    return first ? next_values(first, last) : true;
}

// Posts or awaits an iteration, whose numbers `get` returns.
template <class Get> void at_iteration(void (*call)(team_member *, const std::int64_t *), const Get &get) {
    team_member *const m = self();
    FULT_ASSERT(m->work.share, "within a doacross loop");
    call(m, loop_numbers(m->work.share->across.dimensions, get).data());
}

// The construct is set up, and entered by all members, before they run.
team *start_parallel_loop(void (*fn)(void *), void *data, unsigned threads, loop_shape shape,
                          unsigned flags = 0) {
    region_options with;
    with.bind = bind_of(flags);
    with.prepare_with = &shape;
    with.prepare = [](team &t, void *shape) {
        for (unsigned i = 0; i < t.size; ++i)
            enter_work(&t.members[i], *static_cast<loop_shape *>(shape));
    };
    return open_region(fn, data, resolve_size(current_task(), threads), with);
}
void run_parallel_loop(void (*fn)(void *), void *data, unsigned threads, const loop_shape &shape,
                       unsigned flags) {
    team *const t = start_parallel_loop(fn, data, threads, shape, flags);
    fn(data);
    close_region(t);
}

loop_shape sections_shape(unsigned count) noexcept { return {{1, 1, count}, schedule_kind::dynamic, 1}; }

unsigned next_section() {
    long first = 0, last = 0;
    return next_values(&first, &last) ? static_cast<unsigned>(first) : 0;
}

} // namespace

#define FULT_LOOP(NAME, KIND, ORDER)                                                                         \
    bool GOMP_loop_##NAME##_start(long start, long end, long step, long chunk, long *first, long *last) {    \
        return start_loop(                                                                                   \
            shape_of(space_of(start, end, step), schedule_kind::KIND, chunk, chunk_order::ORDER), first,     \
            last);                                                                                           \
    }                                                                                                        \
    bool GOMP_loop_##NAME##_next(long *first, long *last) { return next_values(first, last); }               \
    bool GOMP_loop_ull_##NAME##_start(bool up, ull start, ull end, ull step, ull chunk, ull *first,          \
                                      ull *last) {                                                           \
        return start_loop(                                                                                   \
            shape_of(space_of(up, start, end, step), schedule_kind::KIND, chunk, chunk_order::ORDER), first, \
            last);                                                                                           \
    }                                                                                                        \
    bool GOMP_loop_ull_##NAME##_next(ull *first, ull *last) { return next_values(first, last); }

#define FULT_RUNTIME_LOOP(NAME, ORDER)                                                                     \
    bool GOMP_loop_##NAME##_start(long start, long end, long step, long *first, long *last) {              \
        return start_loop(runtime_shape(space_of(start, end, step), chunk_order::ORDER), first, last);     \
    }                                                                                                      \
    bool GOMP_loop_##NAME##_next(long *first, long *last) { return next_values(first, last); }             \
    bool GOMP_loop_ull_##NAME##_start(bool up, ull start, ull end, ull step, ull *first, ull *last) {      \
        return start_loop(runtime_shape(space_of(up, start, end, step), chunk_order::ORDER), first, last); \
    }                                                                                                      \
    bool GOMP_loop_ull_##NAME##_next(ull *first, ull *last) { return next_values(first, last); }

#define FULT_DOACROSS(NAME, KIND)                                                                           \
    bool GOMP_loop_doacross_##NAME##_start(unsigned n, long *counts, long chunk, long *first, long *last) { \
        return start_doacross(n, counts,                                                                    \
                              shape_of(space_of(counts), schedule_kind::KIND, chunk, chunk_order::rising),  \
                              first, last);                                                                 \
    }                                                                                                       \
    bool GOMP_loop_ull_doacross_##NAME##_start(unsigned n, ull *counts, ull chunk, ull *first, ull *last) { \
        return start_doacross(n, counts,                                                                    \
                              shape_of(space_of(counts), schedule_kind::KIND, chunk, chunk_order::rising),  \
                              first, last);                                                                 \
    }

extern "C" {

FULT_LOOP(static, fixed, rising)
FULT_LOOP(dynamic, dynamic, rising)
FULT_LOOP(guided, guided, rising)
FULT_LOOP(nonmonotonic_dynamic, dynamic, any)
FULT_LOOP(nonmonotonic_guided, guided, any)
FULT_LOOP(ordered_static, fixed, ordered)
FULT_LOOP(ordered_dynamic, dynamic, ordered)
FULT_LOOP(ordered_guided, guided, ordered)
FULT_RUNTIME_LOOP(runtime, rising)
FULT_RUNTIME_LOOP(nonmonotonic_runtime, any)
FULT_RUNTIME_LOOP(maybe_nonmonotonic_runtime, any)
FULT_RUNTIME_LOOP(ordered_runtime, ordered)
FULT_DOACROSS(static, fixed)
FULT_DOACROSS(dynamic, dynamic)
FULT_DOACROSS(guided, guided)

bool GOMP_loop_doacross_runtime_start(unsigned n, long *counts, long *first, long *last) {
    return start_doacross(n, counts, runtime_shape(space_of(counts), chunk_order::rising), first, last);
}
bool GOMP_loop_ull_doacross_runtime_start(unsigned n, ull *counts, ull *first, ull *last) {
    return start_doacross(n, counts, runtime_shape(space_of(counts), chunk_order::rising), first, last);
}

bool GOMP_loop_start(long start, long end, long step, long schedule, long chunk, long *first, long *last,
                     std::uintptr_t *reductions, void **memory) {
    return start_loop(shape_of_number(space_of(start, end, step), schedule, chunk), first, last, reductions,
                      memory);
}
bool GOMP_loop_ordered_start(long start, long end, long step, long schedule, long chunk, long *first,
                             long *last, std::uintptr_t *reductions, void **memory) {
    return start_loop(shape_of_number(space_of(start, end, step), schedule, chunk, true), first, last,
                      reductions, memory);
}
bool GOMP_loop_doacross_start(unsigned n, long *counts, long schedule, long chunk, long *first, long *last,
                              std::uintptr_t *reductions, void **memory) {
    return start_doacross(n, counts, shape_of_number(space_of(counts), schedule, chunk), first, last,
                          reductions, memory);
}
bool GOMP_loop_ull_start(bool up, ull start, ull end, ull step, long schedule, ull chunk, ull *first,
                         ull *last, std::uintptr_t *reductions, void **memory) {
    return start_loop(shape_of_number(space_of(up, start, end, step), schedule, chunk), first, last,
                      reductions, memory);
}
bool GOMP_loop_ull_ordered_start(bool up, ull start, ull end, ull step, long schedule, ull chunk, ull *first,
                                 ull *last, std::uintptr_t *reductions, void **memory) {
    return start_loop(shape_of_number(space_of(up, start, end, step), schedule, chunk, true), first, last,
                      reductions, memory);
}
bool GOMP_loop_ull_doacross_start(unsigned n, ull *counts, long schedule, ull chunk, ull *first, ull *last,
                                  std::uintptr_t *reductions, void **memory) {
    return start_doacross(n, counts, shape_of_number(space_of(counts), schedule, chunk), first, last,
                          reductions, memory);
}

void GOMP_doacross_post(long *numbers) {
    at_iteration(post_doacross, [numbers](unsigned i) { return numbers[i]; });
}
void GOMP_doacross_ull_post(ull *numbers) {
    at_iteration(post_doacross, [numbers](unsigned i) { return numbers[i]; });
}
void GOMP_doacross_wait(long first, ...) {
    std::va_list rest;
    va_start(rest, first);
    at_iteration(await_doacross, [&](unsigned i) { return i == 0 ? first : va_arg(rest, long); });
    va_end(rest);
}
void GOMP_doacross_ull_wait(ull first, ...) {
    std::va_list rest;
    va_start(rest, first);
    at_iteration(await_doacross, [&](unsigned i) { return i == 0 ? first : va_arg(rest, ull); });
    va_end(rest);
}

void GOMP_loop_end() {
    leave();
    team_barrier(self(), barrier_kind::cancellable);
}
bool GOMP_loop_end_cancel() {
    leave();
    return team_barrier(self(), barrier_kind::cancellable);
}
void GOMP_loop_end_nowait() { leave(); }

void GOMP_ordered_start() { begin_ordered(self()); }
void GOMP_ordered_end() {} // the next chunk may go on when this one is over: one region an iteration

// Combined with parallel ------------------------------------------------------------------------------------------------------

#define FULT_PARALLEL_LOOP(NAME, KIND, ORDER)                                                              \
    void GOMP_parallel_loop_##NAME(void (*fn)(void *), void *data, unsigned threads, long start, long end, \
                                   long step, long chunk, unsigned flags) {                                \
        run_parallel_loop(                                                                                 \
            fn, data, threads,                                                                             \
            shape_of(space_of(start, end, step), schedule_kind::KIND, chunk, chunk_order::ORDER), flags);  \
    }
#define FULT_PARALLEL_LOOP_START(NAME, KIND)                                                             \
    void GOMP_parallel_loop_##NAME##_start(void (*fn)(void *), void *data, unsigned threads, long start, \
                                           long end, long step, long chunk) {                            \
        start_parallel_loop(                                                                             \
            fn, data, threads,                                                                           \
            shape_of(space_of(start, end, step), schedule_kind::KIND, chunk, chunk_order::rising));      \
    }
#define FULT_PARALLEL_RUNTIME_LOOP(NAME, ORDER)                                                             \
    void GOMP_parallel_loop_##NAME(void (*fn)(void *), void *data, unsigned threads, long start, long end,  \
                                   long step, unsigned flags) {                                             \
        run_parallel_loop(fn, data, threads, runtime_shape(space_of(start, end, step), chunk_order::ORDER), \
                          flags);                                                                           \
    }

FULT_PARALLEL_LOOP(static, fixed, rising)
FULT_PARALLEL_LOOP(dynamic, dynamic, rising)
FULT_PARALLEL_LOOP(guided, guided, rising)
FULT_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic, any)
FULT_PARALLEL_LOOP(nonmonotonic_guided, guided, any)
FULT_PARALLEL_RUNTIME_LOOP(runtime, rising)
FULT_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime, any)
FULT_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime, any)
FULT_PARALLEL_LOOP_START(static, fixed)
FULT_PARALLEL_LOOP_START(dynamic, dynamic)
FULT_PARALLEL_LOOP_START(guided, guided)
void GOMP_parallel_loop_runtime_start(void (*fn)(void *), void *data, unsigned threads, long start, long end,
                                      long step) {
    start_parallel_loop(fn, data, threads, runtime_shape(space_of(start, end, step), chunk_order::rising));
}

// Sections: a dynamic loop over 1 ... count; 0 says that there are no more.
unsigned GOMP_sections_start(unsigned count) {
    enter_work(self(), sections_shape(count));
    return next_section();
}
unsigned GOMP_sections2_start(unsigned count, std::uintptr_t *reductions, void **memory) {
    enter(sections_shape(count), reductions, memory);
    return next_section();
}
unsigned GOMP_sections_next() { return next_section(); }
void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned threads, unsigned count,
                            unsigned flags) {
    run_parallel_loop(fn, data, threads, sections_shape(count), flags);
}
void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned threads, unsigned count) {
    start_parallel_loop(fn, data, threads, sections_shape(count));
}
void GOMP_sections_end() { GOMP_loop_end(); }
bool GOMP_sections_end_cancel() { return GOMP_loop_end_cancel(); }
void GOMP_sections_end_nowait() { leave(); }

} // extern "C"
