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
    const auto u = [](T v) { return static_cast<std::uint64_t>(v); };
    FULT_ASSERT(step != 0);
    iteration_space s{u(start), u(step), 0};
    if (up ? start < end : start > end)
        s.count = up ? (u(end) - u(start) - 1) / u(step) + 1 // rounded up, without overflow
                     : (u(start) - u(end) - 1) / (0 - u(step)) + 1;
    return s;
}

template <class T> iteration_space space_of(T start, T end, T step) noexcept {
    return space_of<T>(step > 0, start, end, step);
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

template <class T> bool start_loop(iteration_space space, loop_shape shape, T *first, T *last) {
    shape.space = space;
    enter_work(self(), shape);
    return next_values(first, last);
}

enum class chunk_order { any, rising, ordered }; // ordered: with an ordered region

loop_shape shape_of(schedule_kind kind, std::uint64_t chunk, chunk_order order) noexcept {
    return {{}, kind, chunk, order == chunk_order::ordered, order == chunk_order::any};
}

// With schedule(runtime): what the control variable says.
loop_shape runtime_shape(chunk_order order) {
    const icv_set &v = *current_task()->icvs();
    if (v.monotonic && order == chunk_order::any)
        order = chunk_order::rising;
    constexpr schedule_kind gccs = schedule_kind::dynamic;
    return shape_of(v.schedule_or(gccs), static_cast<std::uint64_t>(v.chunk_or_default(gccs)), order);
}

// gcc's number of a schedule: 0 runtime, 1 static, 2 dynamic, 3 guided, 4 auto; the top bit: monotonic.
loop_shape shape_of_number(long schedule, std::uint64_t chunk, bool ordered) {
    const chunk_order order = ordered ? chunk_order::ordered
                              : (static_cast<unsigned long>(schedule) & monotonic_bit) != 0
                                  ? chunk_order::rising
                                  : chunk_order::any;
    switch (schedule & 0xff) {
    case 1:
        return shape_of(schedule_kind::fixed, chunk, order);
    case 2:
        return shape_of(schedule_kind::dynamic, chunk, order);
    case 3:
        return shape_of(schedule_kind::guided, chunk, order);
    case 4:
        return shape_of(schedule_kind::fixed, 0, order);
    default:
        return runtime_shape(order);
    }
}

// `mem`: in, the size of zeroed memory that the members share during the construct; out, the memory.
struct shared_memory {
    std::size_t size;
};
void set_up_memory(work_share &w, void *with) {
    if (const std::size_t size = static_cast<shared_memory *>(with)->size; size != 0) {
        w.memory = ::operator new(size);
        std::memset(w.memory, 0, size);
    }
}

void enter_with(const loop_shape &shape, std::uintptr_t *reductions, void **memory) {
    omp_task *const me = current_task();
    if (reductions)
        start_reductions(me, reductions);
    shared_memory asked{memory ? reinterpret_cast<std::size_t>(*memory) : 0};
    enter_work(me->self, shape, &set_up_memory, &asked);
    if (memory)
        *memory = me->self->work.share->memory;
}

template <class T>
bool start_general(iteration_space space, loop_shape shape, T *first, T *last, std::uintptr_t *reductions,
                   void **memory) {
    shape.space = space;
    enter_with(shape, reductions, memory);
    return first ? next_values(first, last) : true;
}

// Leaves a loop: a chunk with an ordered region is passed on.
void leave() {
    team_member *const m = self();
    leave_work(m);
}

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
struct doacross_setup {
    unsigned dimensions;
    const std::int64_t *counts;
    std::uint64_t chunk;
    unsigned members;
    std::size_t memory;
};
template <class T>
bool start_doacross(unsigned dimensions, const T *counts, loop_shape shape, T *first, T *last,
                    std::uintptr_t *reductions, void **memory) {
    omp_task *const me = current_task();
    if (reductions)
        start_reductions(me, reductions);
    shape.space = {0, 1, static_cast<std::uint64_t>(counts[0])};
    shape.any_order = false; // iterations wait for earlier ones
    loop_numbers numbers(dimensions, [counts](unsigned i) { return counts[i]; });
    doacross_setup with{dimensions, numbers.data(), shape.chunk, me->in()->size,
                        memory ? reinterpret_cast<std::size_t>(*memory) : 0};
    enter_work(
        me->self, shape,
        [](work_share &w, void *from) {
            auto &s = *static_cast<doacross_setup *>(from);
            setup_doacross(w, s.dimensions, s.counts,
                           w.shape.kind == schedule_kind::dynamic ? w.shape.chunk : s.chunk, s.members);
            shared_memory asked{s.memory};
            set_up_memory(w, &asked);
        },
        &with);
    if (memory)
        *memory = me->self->work.share->memory;
    return first ? next_values(first, last) : true;
}

template <class T> void post(const T *numbers) {
    team_member *const m = self();
    FULT_ASSERT(m->work.share, "within a doacross loop");
    loop_numbers at(m->work.share->across.dimensions, [numbers](unsigned i) { return numbers[i]; });
    post_doacross(m, at.data());
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

loop_shape with_space(loop_shape shape, iteration_space space) noexcept {
    shape.space = space;
    return shape;
}

loop_shape sections_shape(unsigned count) noexcept { return {{1, 1, count}, schedule_kind::dynamic, 1}; }

unsigned next_section() {
    long first = 0, last = 0;
    return next_values(&first, &last) ? static_cast<unsigned>(first) : 0;
}

} // namespace

#define FULT_LOOP(NAME, KIND, ORDER)                                                                        \
    bool GOMP_loop_##NAME##_start(long start, long end, long step, long chunk, long *first, long *last) {   \
        return start_loop(space_of(start, end, step),                                                       \
                          shape_of(KIND, static_cast<std::uint64_t>(chunk), chunk_order::ORDER), first,     \
                          last);                                                                            \
    }                                                                                                       \
    bool GOMP_loop_##NAME##_next(long *first, long *last) { return next_values(first, last); }              \
    bool GOMP_loop_ull_##NAME##_start(bool up, ull start, ull end, ull step, ull chunk, ull *first,         \
                                      ull *last) {                                                          \
        return start_loop(space_of(up, start, end, step), shape_of(KIND, chunk, chunk_order::ORDER), first, \
                          last);                                                                            \
    }                                                                                                       \
    bool GOMP_loop_ull_##NAME##_next(ull *first, ull *last) { return next_values(first, last); }

#define FULT_RUNTIME_LOOP(NAME, ORDER)                                                                     \
    bool GOMP_loop_##NAME##_start(long start, long end, long step, long *first, long *last) {              \
        return start_loop(space_of(start, end, step), runtime_shape(chunk_order::ORDER), first, last);     \
    }                                                                                                      \
    bool GOMP_loop_##NAME##_next(long *first, long *last) { return next_values(first, last); }             \
    bool GOMP_loop_ull_##NAME##_start(bool up, ull start, ull end, ull step, ull *first, ull *last) {      \
        return start_loop(space_of(up, start, end, step), runtime_shape(chunk_order::ORDER), first, last); \
    }                                                                                                      \
    bool GOMP_loop_ull_##NAME##_next(ull *first, ull *last) { return next_values(first, last); }

#define FULT_DOACROSS(NAME, KIND)                                                                            \
    bool GOMP_loop_doacross_##NAME##_start(unsigned n, long *counts, long chunk, long *first, long *last) {  \
        return start_doacross(n, counts,                                                                     \
                              shape_of(KIND, static_cast<std::uint64_t>(chunk), chunk_order::rising), first, \
                              last, nullptr, nullptr);                                                       \
    }                                                                                                        \
    bool GOMP_loop_ull_doacross_##NAME##_start(unsigned n, ull *counts, ull chunk, ull *first, ull *last) {  \
        return start_doacross(n, counts, shape_of(KIND, chunk, chunk_order::rising), first, last, nullptr,   \
                              nullptr);                                                                      \
    }

extern "C" {

FULT_LOOP(static, schedule_kind::fixed, rising)
FULT_LOOP(dynamic, schedule_kind::dynamic, rising)
FULT_LOOP(guided, schedule_kind::guided, rising)
FULT_LOOP(nonmonotonic_dynamic, schedule_kind::dynamic, any)
FULT_LOOP(nonmonotonic_guided, schedule_kind::guided, any)
FULT_LOOP(ordered_static, schedule_kind::fixed, ordered)
FULT_LOOP(ordered_dynamic, schedule_kind::dynamic, ordered)
FULT_LOOP(ordered_guided, schedule_kind::guided, ordered)
FULT_RUNTIME_LOOP(runtime, rising)
FULT_RUNTIME_LOOP(nonmonotonic_runtime, any)
FULT_RUNTIME_LOOP(maybe_nonmonotonic_runtime, any)
FULT_RUNTIME_LOOP(ordered_runtime, ordered)
FULT_DOACROSS(static, schedule_kind::fixed)
FULT_DOACROSS(dynamic, schedule_kind::dynamic)
FULT_DOACROSS(guided, schedule_kind::guided)

bool GOMP_loop_doacross_runtime_start(unsigned n, long *counts, long *first, long *last) {
    return start_doacross(n, counts, runtime_shape(chunk_order::rising), first, last, nullptr, nullptr);
}
bool GOMP_loop_ull_doacross_runtime_start(unsigned n, ull *counts, ull *first, ull *last) {
    return start_doacross(n, counts, runtime_shape(chunk_order::rising), first, last, nullptr, nullptr);
}

bool GOMP_loop_start(long start, long end, long step, long schedule, long chunk, long *first, long *last,
                     std::uintptr_t *reductions, void **memory) {
    return start_general(space_of(start, end, step),
                         shape_of_number(schedule, static_cast<std::uint64_t>(chunk), false), first, last,
                         reductions, memory);
}
bool GOMP_loop_ordered_start(long start, long end, long step, long schedule, long chunk, long *first,
                             long *last, std::uintptr_t *reductions, void **memory) {
    return start_general(space_of(start, end, step),
                         shape_of_number(schedule, static_cast<std::uint64_t>(chunk), true), first, last,
                         reductions, memory);
}
bool GOMP_loop_doacross_start(unsigned n, long *counts, long schedule, long chunk, long *first, long *last,
                              std::uintptr_t *reductions, void **memory) {
    return start_doacross(n, counts, shape_of_number(schedule, static_cast<std::uint64_t>(chunk), false),
                          first, last, reductions, memory);
}
bool GOMP_loop_ull_start(bool up, ull start, ull end, ull step, long schedule, ull chunk, ull *first,
                         ull *last, std::uintptr_t *reductions, void **memory) {
    return start_general(space_of(up, start, end, step), shape_of_number(schedule, chunk, false), first, last,
                         reductions, memory);
}
bool GOMP_loop_ull_ordered_start(bool up, ull start, ull end, ull step, long schedule, ull chunk, ull *first,
                                 ull *last, std::uintptr_t *reductions, void **memory) {
    return start_general(space_of(up, start, end, step), shape_of_number(schedule, chunk, true), first, last,
                         reductions, memory);
}
bool GOMP_loop_ull_doacross_start(unsigned n, ull *counts, long schedule, ull chunk, ull *first, ull *last,
                                  std::uintptr_t *reductions, void **memory) {
    return start_doacross(n, counts, shape_of_number(schedule, chunk, false), first, last, reductions,
                          memory);
}

void GOMP_doacross_post(long *numbers) { post(numbers); }
void GOMP_doacross_ull_post(ull *numbers) { post(numbers); }

void GOMP_doacross_wait(long first, ...) {
    team_member *const m = self();
    std::va_list rest;
    va_start(rest, first);
    loop_numbers at(m->work.share->across.dimensions,
                    [&](unsigned i) { return i == 0 ? first : va_arg(rest, long); });
    va_end(rest);
    await_doacross(m, at.data());
}
void GOMP_doacross_ull_wait(ull first, ...) {
    team_member *const m = self();
    std::va_list rest;
    va_start(rest, first);
    loop_numbers at(m->work.share->across.dimensions,
                    [&](unsigned i) { return i == 0 ? first : va_arg(rest, ull); });
    va_end(rest);
    await_doacross(m, at.data());
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

#define FULT_PARALLEL_LOOP(NAME, KIND, ORDER)                                                               \
    void GOMP_parallel_loop_##NAME(void (*fn)(void *), void *data, unsigned threads, long start, long end,  \
                                   long step, long chunk, unsigned flags) {                                 \
        run_parallel_loop(fn, data, threads,                                                                \
                          with_space(shape_of(KIND, static_cast<std::uint64_t>(chunk), chunk_order::ORDER), \
                                     space_of(start, end, step)),                                           \
                          flags);                                                                           \
    }
#define FULT_PARALLEL_LOOP_START(NAME, KIND)                                                             \
    void GOMP_parallel_loop_##NAME##_start(void (*fn)(void *), void *data, unsigned threads, long start, \
                                           long end, long step, long chunk) {                            \
        start_parallel_loop(                                                                             \
            fn, data, threads,                                                                           \
            with_space(shape_of(KIND, static_cast<std::uint64_t>(chunk), chunk_order::rising),           \
                       space_of(start, end, step)));                                                     \
    }
#define FULT_PARALLEL_RUNTIME_LOOP(NAME, ORDER)                                                              \
    void GOMP_parallel_loop_##NAME(void (*fn)(void *), void *data, unsigned threads, long start, long end,   \
                                   long step, unsigned flags) {                                              \
        run_parallel_loop(fn, data, threads,                                                                 \
                          with_space(runtime_shape(chunk_order::ORDER), space_of(start, end, step)), flags); \
    }

FULT_PARALLEL_LOOP(static, schedule_kind::fixed, rising)
FULT_PARALLEL_LOOP(dynamic, schedule_kind::dynamic, rising)
FULT_PARALLEL_LOOP(guided, schedule_kind::guided, rising)
FULT_PARALLEL_LOOP(nonmonotonic_dynamic, schedule_kind::dynamic, any)
FULT_PARALLEL_LOOP(nonmonotonic_guided, schedule_kind::guided, any)
FULT_PARALLEL_RUNTIME_LOOP(runtime, rising)
FULT_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime, any)
FULT_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime, any)
FULT_PARALLEL_LOOP_START(static, schedule_kind::fixed)
FULT_PARALLEL_LOOP_START(dynamic, schedule_kind::dynamic)
FULT_PARALLEL_LOOP_START(guided, schedule_kind::guided)
void GOMP_parallel_loop_runtime_start(void (*fn)(void *), void *data, unsigned threads, long start, long end,
                                      long step) {
    start_parallel_loop(fn, data, threads,
                        with_space(runtime_shape(chunk_order::rising), space_of(start, end, step)));
}

// Sections: a dynamic loop over 1 ... count; 0 says that there are no more.
unsigned GOMP_sections_start(unsigned count) {
    enter_work(self(), sections_shape(count));
    return next_section();
}
unsigned GOMP_sections2_start(unsigned count, std::uintptr_t *reductions, void **memory) {
    enter_with(sections_shape(count), reductions, memory);
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
