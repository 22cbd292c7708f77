// __kmpc_*: loops, ordered, doacross.
#include <algorithm>
#include <type_traits>

#include <fult/detail/assertion.hpp>

#include "kmp.hpp"
#include "omp/api/own_compiler.hpp"
#include "omp/core/error.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"
#include "omp/core/workshare.hpp"

using namespace fult::omp;
using kmp::location;

const compiler_facts own_compiler{201811, schedule_kind::fixed}; // clang 11 to 16

namespace {

using i4 = std::int32_t;
using u4 = std::uint32_t;
using i8 = std::int64_t;
using u8 = std::uint64_t;
template <class T> using step_of = std::make_signed_t<T>;

constexpr int monotonic = 1 << 29, nonmonotonic = 1 << 30, modifiers = monotonic | nonmonotonic;

// Iterations low ... high, both included. Iterations are counted in 64 bits; a space of 2^64 has none.
template <class T> iteration_space space_of(T low, T high, step_of<T> step) noexcept {
    FULT_ASSERT(step != 0);
    iteration_space s{static_cast<u8>(low), static_cast<u8>(static_cast<i8>(step)), 0};
    using u = std::make_unsigned_t<T>;
    if (step > 0 ? low <= high : low >= high) {
        const u distance = step > 0 ? static_cast<u>(high) - static_cast<u>(low)
                                    : static_cast<u>(low) - static_cast<u>(high);
        const u each = step > 0 ? static_cast<u>(step) : static_cast<u>(0 - static_cast<u>(step));
        s.count = static_cast<u8>(distance / each) + 1;
    }
    return s;
}

// Static --------------------------------------------------------------------------------------------------------------------

// What one of `parties` executes of a static loop: low ... high (a first chunk), and then stride further.
template <class T> struct static_part {
    int *last; // may be null
    T *low, *high;
    step_of<T> *stride;
};

template <class T> void make_empty(const static_part<T> &p, step_of<T> step) noexcept {
    using u = std::make_unsigned_t<T>;
    const T at = *p.low;
    const bool overflows = step > 0 ? static_cast<T>(static_cast<u>(at) + static_cast<u>(step)) < at
                                    : static_cast<T>(static_cast<u>(at) + static_cast<u>(step)) > at;
    if (overflows) {
        *p.high = static_cast<T>(static_cast<u>(at) - static_cast<u>(step));
    } else {
        *p.high = at;
        *p.low = static_cast<T>(static_cast<u>(at) + static_cast<u>(step));
    }
}

template <class T>
void divide(int schedule, const static_part<T> &p, step_of<T> step, step_of<T> chunk, u8 party, u8 parties) {
    FULT_ASSERT(party < parties, "one of the team, or a team of the league");
    const iteration_space s = space_of<T>(*p.low, *p.high, step);
    int ignored = 0;
    int &last = p.last ? *p.last : ignored;
    if (s.count == 0) {
        last = 0;
        *p.stride = step;
        return;
    }
    const auto value = [&s](u8 number) { return static_cast<T>(s.first + number * s.step); };
    const u8 size = chunk > 0 ? static_cast<u8>(chunk) : 1;
    u8 low = 0, high = 0;
    switch (schedule & ~modifiers) {
    case kmp::static_chunked:
    case kmp::distribute_chunked:
        // the compiler's loop goes on by the stride and cuts the last chunk
        *p.stride = static_cast<step_of<T>>(size * parties * s.step);
        last = party == (s.count - 1) / size % parties;
        if (party > (s.count - 1) / size)
            return make_empty(p, step);
        *p.low = value(party * size);
        *p.high = value(std::min((party + 1) * size, s.count) - 1);
        if (party * size + size <= s.count) // not cut here: the second chunk is as long
            *p.high = value((party + 1) * size - 1);
        return;
    case kmp::static_balanced_chunked: { // blocks of whole vectors
        const u8 each = ((s.count + parties - 1) / parties + size - 1) / size * size;
        low = std::min(party * each, s.count);
        high = std::min(low + each, s.count);
        break;
    }
    default:
        static_block(s.count, parties, party, low, high);
    }
    *p.stride = static_cast<step_of<T>>(s.count);
    last = low < high && high == s.count;
    if (low >= high)
        return make_empty(p, step);
    *p.low = value(low);
    *p.high = value(high - 1);
}

template <class T>
void static_init(int schedule, const static_part<T> &p, step_of<T> step, step_of<T> chunk) {
    const omp_task *const me = current_task();
    const int kind = schedule & ~modifiers;
    if (kind == kmp::distribute_chunked || kind == kmp::distribute_block_each)
        divide(schedule, p, step, chunk, me->in()->league.number, me->in()->league.teams);
    else
        divide(schedule, p, step, chunk, me->self->number, me->in()->size);
}

// The team's part, of one block a team; `high` is its end.
template <class T> bool team_part(T *low, T *high, step_of<T> step) {
    int last = 0;
    step_of<T> stride = 0;
    const league_position &here = current_task()->in()->league;
    divide<T>(kmp::distribute_block_each, {&last, low, high, &stride}, step, 1, here.number, here.teams);
    return last != 0;
}

template <class T>
void dist_static_init(int schedule, int *last, T *low, T *high, T *team_high, step_of<T> *stride,
                      step_of<T> step, step_of<T> chunk) {
    const bool last_team = team_part(low, high, step);
    *team_high = *high;
    static_init<T>(schedule, {last, low, high, stride}, step, chunk);
    if (last && !last_team)
        *last = 0;
}

template <class T>
void team_static_init(int *last, T *low, T *high, step_of<T> *stride, step_of<T> step, step_of<T> chunk) {
    static_init<T>(kmp::distribute_chunked, {last, low, high, stride}, step, chunk);
}

// Dynamic -------------------------------------------------------------------------------------------------------------------

// A block for each of `members`, of whole vectors. One chunk each, as none is shorter than its share.
loop_shape blocks_of_vectors(u8 count, u8 members, u8 vector) noexcept {
    const u8 share = (count + members - 1) / members;
    return {{}, schedule_kind::fixed, std::max<u8>((share + vector - 1) / vector, 1) * vector};
}

// schedule(simd:runtime): the chunks are of whole vectors.
loop_shape runtime_shape_of_vectors(const icv_set &v, u8 count, u8 members, u8 vector) noexcept {
    const schedule_kind kind = v.schedule_or(own_compiler.schedule);
    const u8 chunk = static_cast<u8>(v.chunk_or_default(own_compiler.schedule));
    if (kind == schedule_kind::automatic || chunk == 0)
        return blocks_of_vectors(count, members, vector);
    return {{}, kind, chunk * vector, false, false, chunk * vector};
}

loop_shape shape_of(int schedule, i8 chunk, u8 count, u8 members) {
    constexpr int nonmonotonic_from = 160, from = 32, ordered_from = 64;
    bool any_order = (schedule & nonmonotonic) != 0;
    schedule &= ~modifiers;
    if (schedule >= nonmonotonic_from)
        schedule -= nonmonotonic_from - from;
    if (schedule >= ordered_from) {
        schedule -= ordered_from - from;
        any_order = false; // clang says nonmonotonic of these, too
    }
    const u8 least = chunk > 0 ? static_cast<u8>(chunk) : 1;
    switch (schedule) {
    case 33: // static, chunked
        return {{}, schedule_kind::fixed, least};
    case kmp::static_balanced_chunked:
        return blocks_of_vectors(count, members, least);
    case 34: // static
    case 38: // auto
    case 40:
    case 41:
        return {{}, schedule_kind::fixed, 0};
    case 35: // dynamic
    case 44:
        return {{}, schedule_kind::dynamic, least, false, any_order};
    case 36: // guided
    case 39:
    case 42:
    case 43:
        return {{}, schedule_kind::guided, least};
    case 46: // the chunk is a vector
        return {{}, schedule_kind::guided, least, false, false, least};
    case 47:
        return runtime_shape_of_vectors(*current_task()->icvs(), count, members, least);
    case 37: { // runtime
        const icv_set &v = *current_task()->icvs();
        return {{},
                v.schedule_or(own_compiler.schedule),
                static_cast<u8>(v.chunk_or_default(own_compiler.schedule)),
                false,
                any_order && !v.monotonic};
    }
    default:
        fail("a loop's schedule of kind %d is unknown", schedule);
    }
}

// Ordered regions are counted by iteration here, not by chunk.
template <class T> void dispatch_init(int schedule, T low, T high, step_of<T> step, step_of<T> chunk) {
    team_member *const m = current_task()->self;
    if (m->work.share) // it was cancelled
        leave_work(m);
    const iteration_space space = space_of<T>(low, high, step);
    loop_shape shape = shape_of(schedule, chunk, space.count, m->in->size);
    shape.space = space;
    if (m->work.across)
        shape.any_order = false; // iterations wait for earlier ones
    if (m->in->size == 1) {      // one chunk
        shape.kind = schedule_kind::fixed;
        shape.chunk = 0;
    }
    enter_work(m, shape);
}

template <class T> int dispatch_next(int *last, T *low, T *high, step_of<T> *step) {
    team_member *const m = current_task()->self;
    if (!m->work.share)
        return 0;
    u8 from = 0, to = 0;
    if (!next_chunk(m, from, to)) {
        leave_work(m);
        return 0;
    }
    m->work.ordered = from;
    const iteration_space &s = m->work.share->shape.space;
    *low = static_cast<T>(s.first + from * s.step);
    *high = static_cast<T>(s.first + (to - 1) * s.step);
    if (step)
        *step = static_cast<step_of<T>>(s.step);
    if (last)
        *last = to == s.count;
    return 1;
}

// The end of an iteration of an ordered loop.
void end_iteration() {
    team_member *const m = current_task()->self;
    if (!m->work.share)
        return;
    const u8 mine = m->work.ordered++;
    if (m->work.share->ordered_at.load(std::memory_order_relaxed) <= mine)
        pass_ordered_iteration(m, mine);
}

template <class T>
void dist_dispatch_init(int schedule, int *last, T low, T high, step_of<T> step, step_of<T> chunk) {
    const bool last_team = team_part(&low, &high, step);
    if (last)
        *last = last_team;
    dispatch_init<T>(schedule, low, high, step, chunk);
}

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define FULT_LOOPS(SUFFIX, T)                                                                              \
    void __kmpc_for_static_init_##SUFFIX(location *, int, int schedule, int *last, T *low, T *high,        \
                                         step_of<T> *stride, step_of<T> step, step_of<T> chunk) {          \
        static_init<T>(schedule, {last, low, high, stride}, step, chunk);                                  \
    }                                                                                                      \
    void __kmpc_dist_for_static_init_##SUFFIX(location *, int, int schedule, int *last, T *low, T *high,   \
                                              T *team_high, step_of<T> *stride, step_of<T> step,           \
                                              step_of<T> chunk) {                                          \
        dist_static_init<T>(schedule, last, low, high, team_high, stride, step, chunk);                    \
    }                                                                                                      \
    void __kmpc_team_static_init_##SUFFIX(location *, int, int *last, T *low, T *high, step_of<T> *stride, \
                                          step_of<T> step, step_of<T> chunk) {                             \
        team_static_init<T>(last, low, high, stride, step, chunk);                                         \
    }                                                                                                      \
    void __kmpc_dispatch_init_##SUFFIX(location *, int, int schedule, T low, T high, step_of<T> step,      \
                                       step_of<T> chunk) {                                                 \
        dispatch_init<T>(schedule, low, high, step, chunk);                                                \
    }                                                                                                      \
    void __kmpc_dist_dispatch_init_##SUFFIX(location *, int, int schedule, int *last, T low, T high,       \
                                            step_of<T> step, step_of<T> chunk) {                           \
        dist_dispatch_init<T>(schedule, last, low, high, step, chunk);                                     \
    }                                                                                                      \
    int __kmpc_dispatch_next_##SUFFIX(location *, int, int *last, T *low, T *high, step_of<T> *step) {     \
        return dispatch_next<T>(last, low, high, step);                                                    \
    }                                                                                                      \
    void __kmpc_dispatch_fini_##SUFFIX(location *, int) { end_iteration(); }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

FULT_LOOPS(4, i4)
FULT_LOOPS(4u, u4)
FULT_LOOPS(8, i8)
FULT_LOOPS(8u, u8)

void __kmpc_for_static_fini(location *, int) {}
// The end of a loop that a cancellation may have left.
void __kmpc_dispatch_deinit(location *, int) {
    team_member *const m = current_task()->self;
    if (m->work.share)
        leave_work(m);
}

void __kmpc_ordered(location *, int) {
    team_member *const m = current_task()->self;
    if (m->work.share)
        await_ordered_iteration(m, m->work.ordered);
}
void __kmpc_end_ordered(location *, int) {
    team_member *const m = current_task()->self;
    if (m->work.share)
        pass_ordered_iteration(m, m->work.ordered);
}

// Doacross ------------------------------------------------------------------------------------------------------------------

namespace {
struct dimension {
    i8 low, high, step;
};
static_assert(sizeof(dimension) == 24, "kmp_dim");
constexpr int max_dimensions = 64;

// Vectors hold the iterations' values; the core wants their numbers.
struct iteration_numbers {
    i8 of[max_dimensions];
    iteration_numbers(const doacross_state &a, const i8 *values) {
        FULT_ASSERT(a.dimensions != 0 && a.dimensions <= max_dimensions, "within a doacross loop");
        for (unsigned i = 0; i < a.dimensions; ++i)
            of[i] = (values[i] - a.first[i].value) / a.first[i].step;
    }
};
} // namespace

void __kmpc_doacross_init(location *, int, int count, const dimension *d) {
    i8 counts[max_dimensions];
    doacross_first first[max_dimensions];
    if (count > max_dimensions)
        fail("a doacross loop of %d dimensions: more than %d are not supported", count, max_dimensions);
    for (int i = 0; i < count; ++i) {
        counts[i] = static_cast<i8>(space_of<i8>(d[i].low, d[i].high, d[i].step).count);
        first[i] = {d[i].low, d[i].step};
    }
    enter_doacross(current_task()->self, static_cast<unsigned>(count), counts, first);
}
void __kmpc_doacross_post(location *, int, const i8 *values) {
    team_member *const m = current_task()->self;
    post_doacross(m, iteration_numbers(m->work.across->across, values).of);
}
void __kmpc_doacross_wait(location *, int, const i8 *values) {
    team_member *const m = current_task()->self;
    await_doacross(m, iteration_numbers(m->work.across->across, values).of);
}
void __kmpc_doacross_fini(location *, int) { leave_doacross(current_task()->self); }

} // extern "C"
