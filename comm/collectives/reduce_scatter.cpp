#include <algorithm>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// From so many bytes for all ranks together on, each rank combines its own part.
constexpr std::size_t large_reduction = std::size_t{32} << 10;
constexpr std::uint32_t scattering = 70; // the round of the second half; those of reduce_at are below

// Each rank gets its part from one other in each step (pairwise exchange; Thakur, Rabenseifner, Gropp 2005).
// The parts arrive in a circle, so the operator must be commutative.
void reduce_scatter_pairwise(collective_call &call, const void *in, void *out, const layout_of_blocks &parts,
                             const combiner &reduction) {
    const auto own = static_cast<std::size_t>(call.rank());
    const std::size_t size = parts.sizes_of[own];
    scratch sum(size), room(size);
    FULT_ASSERT(reduction.commutative);
    copy_bytes(sum.data(), offset(in, parts.offsets[own]), size);
    for (int step = 1; step < call.size(); ++step) {
        const int to = call.neighbour(step), from = call.neighbour(-step);
        const auto at = static_cast<std::size_t>(to);
        call.exchange(offset(in, parts.offsets[at]), parts.sizes_of[at], to, room.data(), size, from);
        combine(reduction, sum.data(), room.data(), from < call.rank(), size / reduction.element);
    }
    copy_bytes(out, sum.data(), size);
}

void reduce_scatter(collective_call &call, const void *in, void *out, const layout_of_blocks &parts,
                    const combiner &reduction) {
    const auto own = static_cast<std::size_t>(call.rank());
    const std::size_t all = parts.offsets.back() + parts.sizes_of.back();
    if (reduction.commutative && all >= large_reduction) {
        reduce_scatter_pairwise(call, in, out, parts, reduction);
        return;
    }
    scratch sum(all);
    copy_bytes(sum.data(), in, all);
    reduce_at(0, call, sum.data(), all / reduction.element, reduction);
    scatter_blocks(call, blocks_of(sum.data(), parts.sizes_of, parts.offsets), out, parts.sizes_of[own], 0,
                   scattering);
}

} // namespace

void reduce_scatter(endpoint &ep, const void *in, void *out, sizes counts, const combiner &reduction,
                    std::uint32_t sequence) {
    collective_call call(ep, collective::reduce_scatter, sequence);
    const layout_of_blocks parts(counts, reduction.element);
    call.check_each("reduce_scatter", parts.sizes_of, parts.offsets);
    reduce_scatter(call, in, out, parts, reduction);
}

void reduce_scatter_block(endpoint &ep, const void *in, void *out, std::size_t count,
                          const combiner &reduction, std::uint32_t sequence) {
    collective_call call(ep, collective::reduce_scatter, sequence);
    const std::vector<std::size_t> counts(static_cast<std::size_t>(call.size()), count);
    reduce_scatter(call, in, out, layout_of_blocks(counts, reduction.element), reduction);
}

} // namespace fult::comm::detail
