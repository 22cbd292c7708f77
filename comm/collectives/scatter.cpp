#include <algorithm>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// Block size from which the root sends each block itself: the tree copies a block at each of its levels.
constexpr std::size_t large_part = std::size_t{4} << 10;

// Binomial tree with ranks counted from the root: each rank gets the blocks of its subtree, and passes on
// those of its children (Thakur, Rabenseifner, Gropp 2005).
void scatter_tree(collective_call &call, const void *in, void *out, std::size_t block, int root) {
    const int own = call.neighbour(-root), ranks = call.size();
    const int children = own == 0 ? ranks : std::min(own & -own, ranks - own); // including itself
    FULT_ASSERT(children >= 1 && own + children <= ranks, "a subtree is a run of ranks");
    scratch all(static_cast<std::size_t>(children) * block);
    int bit = 1;
    while (bit < ranks && (own & bit) == 0)
        bit *= 2;
    if (own == 0) { // in a circle that begins with the root
        const auto before = static_cast<std::size_t>(ranks - root) * block,
                   after = static_cast<std::size_t>(root) * block;
        copy_bytes(all.data(), offset(in, after), before);
        copy_bytes(offset(all.data(), before), in, after);
    } else {
        call.recv(all.data(), static_cast<std::size_t>(children) * block, call.neighbour(-bit));
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (own + bit < ranks)
            call.send(offset(all.data(), static_cast<std::size_t>(bit) * block),
                      static_cast<std::size_t>(std::min(bit, ranks - own - bit)) * block,
                      call.neighbour(bit));
    // The root's block may lie in place, in memory that is not to be written.
    copy_bytes(out, own == 0 ? offset(in, static_cast<std::size_t>(root) * block) : all.data(), block);
}

} // namespace

void scatter(endpoint &ep, const void *in, void *out, std::size_t block, int root, std::uint32_t sequence) {
    collective_call call(ep, collective::scatter, sequence);
    call.check_root(root);
    if (block < large_part && call.size() > 2)
        scatter_tree(call, in, out, block, root);
    else
        scatter_blocks(call, blocks_of(in, block), out, block, root);
}

void scatterv(endpoint &ep, const void *in, sizes sizes_of, sizes offsets, void *out, std::size_t size,
              int root, std::uint32_t sequence) {
    collective_call call(ep, collective::scatterv, sequence);
    call.check_root(root);
    if (call.rank() == root) {
        call.check_each("scatterv", sizes_of, offsets);
        check_fits("scatterv", "what the root has for itself (bytes)", size,
                   sizes_of[static_cast<std::size_t>(root)]);
    }
    scatter_blocks(call, blocks_of(in, sizes_of, offsets), out, size, root);
}

} // namespace fult::comm::detail
