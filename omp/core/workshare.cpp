#include "workshare.hpp"

#include <algorithm>

#include <fult/detail/assertion.hpp>

#include "team.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept { return a / b + (a % b != 0); }

// Block or chunks of a static loop, by the member's number.
bool next_static(const team_member &m, const loop_shape &s, std::uint64_t trip, std::uint64_t &low,
                 std::uint64_t &high) noexcept {
    const std::uint64_t n = m.in->size, me = m.number;
    if (s.chunk == 0) {
        if (trip != 0)
            return false;
        static_block(s.space.count, n, me, low, high);
        return low < high;
    }
    const std::uint64_t chunks = divide_up(s.space.count, s.chunk);
    if (trip > (chunks - 1) / n || chunks == 0 || trip * n + me >= chunks)
        return false;
    low = (trip * n + me) * s.chunk;
    high = std::min(s.space.count, low + s.chunk);
    return true;
}

bool next_dynamic(work_share &w, std::uint64_t &low, std::uint64_t &high) noexcept {
    const std::uint64_t count = w.shape.space.count, chunk = w.shape.chunk;
    FULT_ASSERT(chunk != 0, "each call takes some");
    std::uint64_t seen = 0;
    if (count < (std::uint64_t{1} << 62) &&
        chunk < (std::uint64_t{1} << 40)) { // no overflow: a member looks once more than there are chunks
        seen = w.next.fetch_add(chunk, std::memory_order_relaxed);
        if (seen >= count)
            return false;
    } else {
        seen = w.next.load(std::memory_order_relaxed);
        do
            if (seen >= count)
                return false;
        while (!w.next.compare_exchange_weak(seen, chunk < count - seen ? seen + chunk : count,
                                             std::memory_order_relaxed));
    }
    low = seen;
    high = chunk < count - seen ? seen + chunk : count;
    return true;
}

// Each member begins with a block of the chunks, as in a static loop. The last chunk is in no block.
void divide(work_share &w, unsigned members) {
    const std::uint64_t chunks = divide_up(w.shape.space.count, w.shape.chunk);
    w.is_divided = chunks < chunk_range::most && chunks > members && members > 1;
    if (!w.is_divided)
        return;
    if (!w.ranges)
        w.ranges = std::make_unique<chunk_range[]>(members);
    for (unsigned i = 0; i < members; ++i) {
        std::uint64_t low = 0, high = 0;
        static_block(chunks - 1, members, i, low, high);
        w.ranges[i].word.store(chunk_range::make(low, high), std::memory_order_relaxed);
    }
}

// Half of what another member has left; the first of these chunks at once. A range that has been emptied is
// changed by its owner alone, and no chunk comes twice: so a word that has not changed means the same range.
bool steal_chunks(const team_member &me, const work_share &w, std::uint64_t &chunk) noexcept {
    const unsigned members = me.in->size;
    for (unsigned i = 1; i < members; ++i) {
        std::atomic<std::uint64_t> &from = w.ranges[(me.number + i) % members].word;
        std::uint64_t seen = from.load(std::memory_order_relaxed);
        while (chunk_range::next_of(seen) < chunk_range::end_of(seen)) {
            const std::uint64_t next = chunk_range::next_of(seen), end = chunk_range::end_of(seen);
            const std::uint64_t first = end - (end - next + 1) / 2;
            if (!from.compare_exchange_weak(seen, chunk_range::make(next, first), std::memory_order_relaxed))
                continue;
            chunk = first;
            w.ranges[me.number].word.store(chunk_range::make(first + 1, end), std::memory_order_relaxed);
            return true;
        }
    }
    return false;
}

// The last chunk comes when the member finds no other one, and is its last: a lastprivate variable gets the
// value that the member which has run that chunk holds at the end of the loop.
bool next_divided(const team_member &me, work_share &w, std::uint64_t &low, std::uint64_t &high) noexcept {
    const std::uint64_t count = w.shape.space.count;
    if (me.work.high == count)
        return false;
    const std::uint64_t mine = w.ranges[me.number].word.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t chunk = chunk_range::next_of(mine);
    if (chunk >= chunk_range::end_of(mine) && !steal_chunks(me, w, chunk)) {
        if (w.next.exchange(count, std::memory_order_relaxed) == count)
            return false;
        chunk = (count - 1) / w.shape.chunk;
    }
    low = chunk * w.shape.chunk;
    high = low + std::min(count - low, w.shape.chunk);
    return true;
}

bool next_guided(work_share &w, unsigned members, std::uint64_t &low, std::uint64_t &high) noexcept {
    FULT_ASSERT(members != 0 && w.shape.chunk != 0, "each call takes some");
    const std::uint64_t count = w.shape.space.count;
    std::uint64_t seen = w.next.load(std::memory_order_relaxed), size;
    do {
        if (seen >= count)
            return false;
        const std::uint64_t left = count - seen;
        size = std::max(divide_up(left, members), w.shape.chunk);
        if (w.shape.vector != 1)
            size = divide_up(size, w.shape.vector) * w.shape.vector;
        size = std::min(left, size);
    } while (!w.next.compare_exchange_weak(seen, seen + size, std::memory_order_relaxed));
    low = seen;
    high = seen + size;
    return true;
}

} // namespace

void static_block(std::uint64_t count, std::uint64_t members, std::uint64_t number, std::uint64_t &low,
                  std::uint64_t &high) noexcept {
    const std::uint64_t each = count / members, more = count % members;
    FULT_ASSERT(number < members);
    low = number * each + std::min(number, more);
    high = low + each + (number < more);
    FULT_ASSERT(low <= high && high <= count);
}

bool enter_work(team_member *m, const loop_shape &shape, void (*setup)(work_share &, void *), void *with) {
    FULT_ASSERT(!m->work.share, "a member leaves a construct before it enters the next one");
    const std::uint64_t construct = m->work.constructs++;
    work_share *share = &m->in->works.place_of(construct);
    if (share->turn.load(std::memory_order_acquire) != construct) [[unlikely]] // pairs with assign
        share = &m->in->works.share_beyond(construct, m->in->size);
    m->work.share = share;
    m->work.trip = m->work.low = m->work.high = 0;
    work_share &w = *share;
    FULT_ASSERT(w.turn.load(std::memory_order_relaxed) == construct,
                "it is not passed on without this member");
    std::uint64_t free = construct;
    if (w.ready.load(std::memory_order_acquire) != construct + 1 &&
        w.claimed.compare_exchange_strong(free, construct + 1, std::memory_order_relaxed)) {
        FULT_ASSERT((w.left.load(std::memory_order_relaxed) & ~work_ring::marked) == 0 && !w.memory &&
                        w.across.dimensions == 0,
                    "all members have left what was here");
        FULT_ASSERT(shape.kind != schedule_kind::by_compiler, "the interface knows its compiler");
        w.shape = shape;
        if ((w.shape.kind == schedule_kind::dynamic || w.shape.kind == schedule_kind::guided) &&
            w.shape.chunk == 0)
            w.shape.chunk = 1;
        if (w.shape.kind == schedule_kind::automatic)
            w.shape.kind = schedule_kind::fixed;
        w.next.store(0, std::memory_order_relaxed);
        w.is_divided = false;
        if (w.shape.kind == schedule_kind::dynamic && w.shape.any_order && !w.shape.ordered)
            divide(w, m->in->size);
        w.ordered_at.store(0, std::memory_order_relaxed);
        w.cancelled.store(false, std::memory_order_relaxed);
        if (setup)
            setup(w, with);
        w.ready.store(construct + 1, std::memory_order_release); // pairs with the load below
        return true;
    }
    if (w.ready.load(std::memory_order_acquire) != construct + 1)
        poll_until([&] { return w.ready.load(std::memory_order_acquire) == construct + 1; });
    return false;
}

bool next_chunk(team_member *m, std::uint64_t &low, std::uint64_t &high) {
    FULT_ASSERT(m->work.share, "within a construct");
    work_share &w = *m->work.share;
    if (w.shape.ordered && m->work.high != m->work.low)
        pass_ordered(m);
    bool found = false;
    if (!w.cancelled.load(std::memory_order_relaxed))
        switch (w.shape.kind) {
        case schedule_kind::dynamic:
            found = w.is_divided ? next_divided(*m, w, low, high) : next_dynamic(w, low, high);
            break;
        case schedule_kind::guided:
            found = next_guided(w, m->in->size, low, high);
            break;
        default:
            found = next_static(*m, w.shape, m->work.trip, low, high);
        }
    if (found) {
        FULT_ASSERT(low < high && high <= w.shape.space.count);
        ++m->work.trip;
        m->work.low = low;
        m->work.high = high;
    } else {
        m->work.low = m->work.high = 0;
    }
    return found;
}

namespace {
FULT_NOINLINE void leave_marked(const team_member *m, work_share &w, unsigned before) {
    if (before != (work_ring::marked | (m->in->size - 1)))
        return;
    w.drop_contents();
    m->in->works.end_marked(w);
}

void leave_share(const team_member *m, work_share *w) {
    FULT_ASSERT(w && w->ready.load(std::memory_order_relaxed) == w->turn.load(std::memory_order_relaxed) + 1,
                "a construct that is left was set up");
    const unsigned size = m->in->size;
    if (size != 1) {
        const unsigned before = w->left.fetch_add(1, std::memory_order_acq_rel);
        FULT_ASSERT((before & ~work_ring::marked) < size, "each member leaves once");
        if (before < size - 1)
            return;
        if (before > size - 1) [[unlikely]]
            return leave_marked(m, *w, before);
    }
    w->drop_contents();
    assign(*w, w->turn.load(std::memory_order_relaxed) + work_ring::length);
}
} // namespace

void leave_work(team_member *m) { leave_share(m, std::exchange(m->work.share, nullptr)); }

bool work_cancelled(const team_member *m) noexcept {
    return m->work.share && m->work.share->cancelled.load(std::memory_order_relaxed);
}

// Ordered ----------------------------------------------------------------------------------------------------------------------

void await_ordered_iteration(team_member *m, std::uint64_t number) {
    const std::atomic<std::uint64_t> &at = m->work.share->ordered_at;
    FULT_ASSERT(at.load(std::memory_order_relaxed) <= number, "its turn is passed on by this member alone");
    if (at.load(std::memory_order_acquire) != number) // pairs with pass_ordered_iteration
        poll_until([&] { return at.load(std::memory_order_acquire) == number; });
}

void pass_ordered_iteration(team_member *m, std::uint64_t number) {
    FULT_ASSERT(number < m->work.share->shape.space.count);
    await_ordered_iteration(m, number);
    m->work.share->ordered_at.store(number + 1,
                                    std::memory_order_release); // pairs with await_ordered_iteration
}

void begin_ordered(team_member *m) {
    if (m->work.high != m->work.low)
        await_ordered_iteration(m, m->work.low);
}

void pass_ordered(team_member *m) {
    FULT_ASSERT(m->work.low < m->work.high);
    await_ordered_iteration(m, m->work.low);
    m->work.share->ordered_at.store(m->work.high,
                                    std::memory_order_release); // pairs with await_ordered_iteration
}

// Doacross ---------------------------------------------------------------------------------------------------------------------

void setup_doacross(work_share &w, unsigned dimensions, const std::int64_t *counts) {
    FULT_ASSERT(dimensions != 0);
    doacross_state &a = w.across;
    a.dimensions = dimensions;
    a.counts = std::make_unique<std::int64_t[]>(dimensions);
    std::copy_n(counts, dimensions, a.counts.get());
    const auto outer = static_cast<std::uint64_t>(std::max<std::int64_t>(counts[0], 0));
    // Blocks differ in size by one, and a guided chunk is at least as long as the least one: one position an
    // outer iteration then.
    a.chunk = w.shape.kind == schedule_kind::guided || w.shape.chunk == 0 ? 1 : w.shape.chunk;
    a.posted = std::make_unique<std::atomic<std::uint64_t>[]>(divide_up(outer, a.chunk) + 1);
}

namespace {
// The place of an iteration in the order of all collapsed loops but the outermost chunk, from 1 on.
std::uint64_t position(const doacross_state &a, const std::int64_t *numbers) noexcept {
    std::uint64_t at = static_cast<std::uint64_t>(numbers[0]) % a.chunk;
    for (unsigned i = 1; i < a.dimensions; ++i)
        at = at * static_cast<std::uint64_t>(a.counts[i]) + static_cast<std::uint64_t>(numbers[i]);
    return at + 1;
}
} // namespace

void enter_doacross(team_member *m, unsigned dimensions, const std::int64_t *counts,
                    const doacross_first *first) {
    struct dimension_list {
        unsigned n;
        const std::int64_t *counts;
        const doacross_first *first;
    } list{dimensions, counts, first};
    static constexpr auto setup = [](work_share &w, void *with) {
        const auto &[n, counts, first] = *static_cast<dimension_list *>(with);
        std::uint64_t all = 1;
        for (unsigned i = 0; i < n; ++i)
            all *= static_cast<std::uint64_t>(counts[i]);
        w.across.dimensions = n;
        w.across.counts = std::make_unique<std::int64_t[]>(n);
        std::copy_n(counts, n, w.across.counts.get());
        w.across.first = std::make_unique<doacross_first[]>(n);
        std::copy_n(first, n, w.across.first.get());
        w.across.bits = std::make_unique<std::atomic<std::uint64_t>[]>(all / 64 + 1);
    };
    enter_work(m, {}, setup, &list);
    m->work.across = std::exchange(m->work.share, nullptr);
}

void leave_doacross(team_member *m) { leave_share(m, std::exchange(m->work.across, nullptr)); }

namespace {
bool is_inside(const doacross_state &a, const std::int64_t *numbers) noexcept {
    for (unsigned i = 0; i < a.dimensions; ++i)
        if (numbers[i] < 0 || numbers[i] >= a.counts[i])
            return false;
    return true;
}
std::uint64_t number_of_all(const doacross_state &a, const std::int64_t *numbers) noexcept {
    std::uint64_t at = 0;
    for (unsigned i = 0; i < a.dimensions; ++i)
        at = at * static_cast<std::uint64_t>(a.counts[i]) + static_cast<std::uint64_t>(numbers[i]);
    return at;
}
} // namespace

void post_doacross(team_member *m, const std::int64_t *numbers) {
    doacross_state &a = m->work.across ? m->work.across->across : m->work.share->across;
    FULT_ASSERT(is_inside(a, numbers), "an iteration posts itself");
    if (a.bits) {
        const std::uint64_t at = number_of_all(a, numbers);
        a.bits[at / 64].fetch_or(std::uint64_t{1} << at % 64, std::memory_order_release); // await_doacross
        return;
    }
    a.posted[static_cast<std::uint64_t>(numbers[0]) / a.chunk].store(
        position(a, numbers),
        std::memory_order_release); // await_doacross
}

void await_doacross(team_member *m, const std::int64_t *numbers) {
    const doacross_state &a = m->work.across ? m->work.across->across : m->work.share->across;
    if (!is_inside(a, numbers))
        return; // nothing to wait for
    if (a.bits) {
        const std::uint64_t at = number_of_all(a, numbers);
        poll_until([&] { return (a.bits[at / 64].load(std::memory_order_acquire) >> at % 64 & 1) != 0; });
        return;
    }
    const std::uint64_t until = position(a, numbers);
    const std::atomic<std::uint64_t> &posted = a.posted[static_cast<std::uint64_t>(numbers[0]) / a.chunk];
    poll_until([&] { return posted.load(std::memory_order_acquire) >= until; }); // pairs with post_doacross
}

// Single -----------------------------------------------------------------------------------------------------------------------

bool take_single(team_member *m) {
    std::uint64_t mine = m->work.singles++;
    std::atomic<std::uint64_t> &taken = m->in->singles;
    FULT_ASSERT(taken.load(std::memory_order_relaxed) >= mine, "those that this member has passed are taken");
    return taken.load(std::memory_order_relaxed) == mine &&
           taken.compare_exchange_strong(mine, mine + 1, std::memory_order_acq_rel);
}

} // namespace fult::omp
