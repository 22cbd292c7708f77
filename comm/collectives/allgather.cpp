#include <algorithm>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// Total bytes from which a ring is better: it copies nothing twice.
constexpr std::size_t large_in_all = std::size_t{64} << 10;

// Bruck et al., "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems",
// 1997: the blocks that a rank has double each round, in a circle that begins with its own block.
void allgather_bruck(collective_call &call, const void *in, void *out, std::size_t block) {
    const int ranks = call.size();
    scratch all(static_cast<std::size_t>(ranks) * block);
    copy_bytes(all.data(), in, block);
    std::uint32_t round = 0;
    for (int have = 1; have < ranks; have *= 2, ++round) {
        FULT_ASSERT(1 << round == have);
        const std::size_t more = static_cast<std::size_t>(std::min(have, ranks - have)) * block;
        call.exchange(all.data(), more, call.neighbour(-have),
                      offset(all.data(), static_cast<std::size_t>(have) * block), more, call.neighbour(have),
                      round);
    }
    const auto own = static_cast<std::size_t>(call.rank()) * block;
    const auto before = static_cast<std::size_t>(ranks) * block - own;
    copy_bytes(offset(out, own), all.data(), before);
    copy_bytes(out, offset(all.data(), before), own);
}

void allgather_ring(collective_call &call, const void *in, void *out, std::size_t block) {
    const auto place = [&](int distance) {
        return offset(out, static_cast<std::size_t>(call.neighbour(distance)) * block);
    };
    copy_bytes(place(0), in, block);
    for (int step = 0; step + 1 < call.size(); ++step)
        call.exchange(place(-step), block, call.neighbour(1), place(-step - 1), block, call.neighbour(-1));
}

} // namespace

void allgather(endpoint &ep, const void *in, void *out, std::size_t block, std::uint32_t sequence) {
    collective_call call(ep, collective::allgather, sequence);
    if (static_cast<std::size_t>(call.size()) * block < large_in_all)
        allgather_bruck(call, in, out, block);
    else
        allgather_ring(call, in, out, block);
}

// In a ring.
void allgatherv(endpoint &ep, const void *in, std::size_t size, void *out, sizes sizes_of, sizes offsets,
                std::uint32_t sequence) {
    collective_call call(ep, collective::allgatherv, sequence);
    call.check_each("allgatherv", sizes_of, offsets);
    const auto index = [&](int distance) { return static_cast<std::size_t>(call.neighbour(distance)); };
    check_fits("allgatherv", "what this rank has (bytes)", size, sizes_of[index(0)]);
    copy_bytes(offset(out, offsets[index(0)]), in, size);
    for (int step = 0; step + 1 < call.size(); ++step) {
        const std::size_t going = index(-step), coming = index(-step - 1);
        call.exchange(offset(out, offsets[going]), sizes_of[going], call.neighbour(1),
                      offset(out, offsets[coming]), sizes_of[coming], call.neighbour(-1));
    }
}

} // namespace fult::comm::detail
