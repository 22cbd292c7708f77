// Prefixes. In each round pairs of neighbouring groups exchange their sums, and the groups double; a rank of
// the upper one adds the lower one's sum to its prefix (recursive doubling, as in MPICH). The order of the
// ranks is kept. With a number of ranks that is no power of two, some ranks lack a partner; no other rank
// needs the sum that these would have.
#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// `prefix` holds this rank's values, or nothing if `has_prefix` is false.
void compute_prefixes(collective_call &call, void *sum, void *prefix, bool has_prefix, std::size_t count,
                      const combiner &reduction) {
    const std::size_t size = count * reduction.element;
    scratch room(size);
    std::uint32_t round = 0;
    for (int distance = 1; distance < call.size(); distance *= 2, ++round) {
        const int other = call.rank() ^ distance;
        if (other >= call.size())
            continue;
        call.exchange(sum, size, other, room.data(), size, other, round);
        const bool from_below = other < call.rank();
        FULT_ASSERT(from_below == ((call.rank() & distance) != 0));
        combine(reduction, sum, room.data(), from_below, count);
        if (!from_below)
            continue;
        if (has_prefix)
            combine(reduction, prefix, room.data(), true, count);
        else
            copy_bytes(prefix, room.data(), size);
        has_prefix = true;
    }
}

} // namespace

void scan(endpoint &ep, const void *in, void *out, std::size_t count, const combiner &reduction,
          std::uint32_t sequence) {
    collective_call call(ep, collective::scan, sequence);
    const std::size_t size = count * reduction.element;
    scratch sum(size);
    copy_bytes(sum.data(), in, size);
    copy_bytes(out, in, size);
    compute_prefixes(call, sum.data(), out, true, count, reduction);
}

void exscan(endpoint &ep, const void *in, void *out, std::size_t count, const combiner &reduction,
            std::uint32_t sequence) {
    collective_call call(ep, collective::exscan, sequence);
    const std::size_t size = count * reduction.element;
    scratch sum(size);
    copy_bytes(sum.data(), in, size);
    compute_prefixes(call, sum.data(), out, false, count, reduction);
}

} // namespace fult::comm::detail
