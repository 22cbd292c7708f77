#include "binding.hpp"

#include <algorithm>
#include <sched.h>

#include <fult/detail/assertion.hpp>
#include <fult/detail/service.hpp>

#include "icv.hpp"
#include "place_list.hpp"
#include "team.hpp"

namespace fult::omp {
namespace {

// `whole` divided into `parts` as even as possible, the longer ones first: the part that contains `at`.
struct share {
    int number, first, length;
};
share share_at(int whole, int parts, int at) noexcept {
    const int least = whole / parts, longer = whole % parts, in_longer = longer * (least + 1);
    if (at < in_longer)
        return {at / (least + 1), at / (least + 1) * (least + 1), least + 1};
    const int number = longer + (at - in_longer) / least;
    return {number, in_longer + (number - longer) * least, least};
}
share numbered_share(int whole, int parts, int number) noexcept {
    const int least = whole / parts, longer = whole % parts;
    return {number, number * least + std::min(number, longer), least + (number < longer)};
}

// The places from `here` on, and from the first one on after the last.
int wrap(place_partition from, int here, int distance) noexcept {
    return from.first + (here - from.first + distance) % from.count;
}

binding spread(place_partition from, int here, int i, int size) noexcept {
    const int own = share_at(from.count, size, here - from.first).number;
    const share mine = numbered_share(from.count, size, (own + i) % size);
    const place_partition part{from.first + mine.first, mine.length};
    return {i == 0 ? here : part.first, part};
}

} // namespace

bool binds_threads() noexcept { return places().size() != 0; }

binding bind_member(bind_policy policy, place_partition from, int here, unsigned i, unsigned size) noexcept {
    FULT_ASSERT(i < size && from.count > 0);
    if (!from.contains(here))
        here = from.first;
    const int number = static_cast<int>(i), members = static_cast<int>(size);
    switch (policy) {
    case bind_policy::none:
        return {-1, from};
    case bind_policy::primary:
        return {here, from};
    case bind_policy::spread:
        if (members <= from.count)
            return spread(from, here, number, members);
        break;
    case bind_policy::any:
    case bind_policy::close:
        if (members <= from.count)
            return {wrap(from, here, number), from};
    }
    // several members in each place
    const int place = wrap(from, here, share_at(members, from.count, number).number);
    return {place, policy == bind_policy::spread ? place_partition{place, 1} : from};
}

place_partition partition_of(const team_member &m) noexcept {
    return m.bind.partition.count != 0 ? m.bind.partition : place_partition{0, places().size()};
}

void bind_thread(thread_state *at, int place) noexcept {
    FULT_ASSERT(is_here(at) && place >= 0 && place < places().size());
    if (::sched_setaffinity(0, sizeof(cpu_set_t), &places()[place]) == 0)
        at->bound.store(place, std::memory_order_relaxed);
}

void unbind_thread(thread_state *at) noexcept {
    FULT_ASSERT(is_here(at) && binds_threads());
    ::sched_setaffinity(0, sizeof(cpu_set_t), &processors_at_start());
    at->bound.store(-1, std::memory_order_relaxed);
}

void record_binding(const team &t, bind_policy policy) noexcept {
    const int place = t.members[0].at->bound.load(std::memory_order_relaxed);
    const int here =
        policy == bind_policy::primary && place >= 0 ? CPU_COUNT(&places()[place]) : places().count_all();
    if (static_cast<int>(t.size) > here)
        detail::share_processors(true);
}

} // namespace fult::omp
