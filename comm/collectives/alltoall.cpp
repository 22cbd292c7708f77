#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// Block size up to which forwarding is better than more messages; with few ranks there are no more.
constexpr std::size_t max_bruck_block = 256;
constexpr int max_pairwise_ranks = 4;

// Bruck et al. 1997: a block that must move by d ranks moves in the rounds of the 1 bits of d.
void alltoall_bruck(collective_call &call, const void *in, void *out, std::size_t block) {
    const auto ranks = static_cast<std::size_t>(call.size());
    const auto rank = static_cast<std::size_t>(call.rank());
    scratch held(ranks * block), going(ranks * block), coming(ranks * block);
    for (std::size_t i = 0; i < ranks; ++i)
        copy_bytes(offset(held.data(), i * block), offset(in, (rank + i) % ranks * block), block);
    std::uint32_t round = 0;
    for (std::size_t bit = 1; bit < ranks; bit *= 2, ++round) {
        std::size_t count = 0;
        for (std::size_t i = bit; i < ranks; ++i)
            if ((i & bit) != 0)
                copy_bytes(offset(going.data(), count++ * block), offset(held.data(), i * block), block);
        call.exchange(going.data(), count * block, call.neighbour(static_cast<int>(bit)), coming.data(),
                      count * block, call.neighbour(-static_cast<int>(bit)), round);
        count = 0;
        for (std::size_t i = bit; i < ranks; ++i)
            if ((i & bit) != 0)
                copy_bytes(offset(held.data(), i * block), offset(coming.data(), count++ * block), block);
    }
    for (std::size_t i = 0; i < ranks; ++i)
        copy_bytes(offset(out, (rank + ranks - i) % ranks * block), offset(held.data(), i * block), block);
}

// Pairwise: in each step every rank sends to one and receives from one.
template <class Out, class In>
void alltoall_pairwise(collective_call &call, const Out &going, const In &coming) {
    copy_bytes(coming(call.rank()).data(), going(call.rank()).data(), going(call.rank()).size());
    for (int step = 1; step < call.size(); ++step) {
        const int to = call.neighbour(step), from = call.neighbour(-step);
        FULT_ASSERT(to != call.rank() && from != call.rank());
        call.exchange(going(to).data(), going(to).size(), to, coming(from).data(), coming(from).size(), from);
    }
}

} // namespace

void alltoall(endpoint &ep, const void *in, void *out, std::size_t block, std::uint32_t sequence) {
    collective_call call(ep, collective::alltoall, sequence);
    if (block <= max_bruck_block && call.size() > max_pairwise_ranks)
        alltoall_bruck(call, in, out, block);
    else
        alltoall_pairwise(call, blocks_of(in, block), blocks_of(out, block));
}

void alltoallv(endpoint &ep, const void *in, sizes in_sizes, sizes in_offsets, void *out, sizes out_sizes,
               sizes out_offsets, std::uint32_t sequence) {
    collective_call call(ep, collective::alltoallv, sequence);
    call.check_each("alltoallv", in_sizes, in_offsets);
    call.check_each("alltoallv", out_sizes, out_offsets);
    const auto rank = static_cast<std::size_t>(call.rank());
    check_fits("alltoallv", "what this rank has for itself (bytes)", in_sizes[rank], out_sizes[rank]);
    alltoall_pairwise(call, blocks_of(in, in_sizes, in_offsets), blocks_of(out, out_sizes, out_offsets));
}

void alltoallv(endpoint &ep, const void *in, sizes in_counts, void *out, sizes out_counts,
               std::size_t element) {
    const layout_of_blocks going(in_counts, element), coming(out_counts, element);
    alltoallv(ep, in, going.sizes_of, going.offsets, out, coming.sizes_of, coming.offsets);
}

} // namespace fult::comm::detail
