#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// Block size up to which forwarding is better than more messages; with few ranks there are no more.
constexpr std::size_t small = 256;
constexpr int few = 4;

// Bruck: a block that must move by d ranks moves in the rounds of the 1 bits of d.
void by_bits(collective_call &call, const void *in, void *out, std::size_t block) {
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
template <class Out, class In> void by_pairs(collective_call &call, const Out &out_of, const In &in_of) {
    for (int step = 1; step < call.size(); ++step) {
        const int to = call.neighbour(step), from = call.neighbour(-step);
        FULT_ASSERT(to != call.rank() && from != call.rank());
        const auto out = out_of(static_cast<std::size_t>(to));
        const auto in = in_of(static_cast<std::size_t>(from));
        call.exchange(out.data(), out.size(), to, in.data(), in.size(), from);
    }
}

std::vector<std::size_t> starts_of(std::span<const std::size_t> counts, std::size_t element) {
    std::vector<std::size_t> starts{0};
    for (const std::size_t count : counts)
        starts.push_back(starts.back() + count * element);
    return starts;
}

} // namespace

void alltoall(endpoint &among, const void *in, void *out, std::size_t block) {
    collective_call call(among, collective::alltoall);
    if (block <= small && call.size() > few) {
        by_bits(call, in, out, block);
        return;
    }
    const auto own = static_cast<std::size_t>(call.rank()) * block;
    copy_bytes(offset(out, own), offset(in, own), block);
    by_pairs(
        call, [&](std::size_t rank) { return std::span<const std::byte>(offset(in, rank * block), block); },
        [&](std::size_t rank) { return std::span<std::byte>(offset(out, rank * block), block); });
}

void alltoallv(endpoint &among, const void *in, std::span<const std::size_t> in_counts, void *out,
               std::span<const std::size_t> out_counts, std::size_t element) {
    collective_call call(among, collective::alltoallv);
    const auto rank = static_cast<std::size_t>(call.rank());
    const auto in_starts = starts_of(in_counts, element), out_starts = starts_of(out_counts, element);
    const auto going = [&](std::size_t to) {
        return std::span<const std::byte>(offset(in, in_starts[to]), in_starts[to + 1] - in_starts[to]);
    };
    const auto coming = [&](std::size_t from) {
        return std::span<std::byte>(offset(out, out_starts[from]), out_starts[from + 1] - out_starts[from]);
    };
    check_fits("alltoallv", "what this rank has for itself", in_counts[rank], out_counts[rank]);
    copy_bytes(coming(rank).data(), going(rank).data(), going(rank).size());
    by_pairs(call, going, coming);
}

} // namespace fult::comm::detail
