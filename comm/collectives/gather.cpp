#include <algorithm>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// The tree is binomial: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
// MPICH", 2005. Block size from which blocks are sent directly to the root, without forwarding.
constexpr std::size_t large_block = std::size_t{16} << 10;

// Each rank gathers the blocks of its subtree, counted from the root; the root gets them in a circle that
// begins with its own.
void gather_tree(collective_call &call, const void *in, void *out, std::size_t block, int root) {
    const int own = call.neighbour(-root), ranks = call.size();
    const int children = own == 0 ? ranks : std::min(own & -own, ranks - own); // including itself
    FULT_ASSERT(children >= 1 && own + children <= ranks, "a subtree is a run of ranks");
    scratch all(static_cast<std::size_t>(children) * block);
    copy_bytes(all.data(), in, block);
    for (int bit = 1; bit < ranks; bit *= 2) {
        if ((own & bit) != 0) {
            call.send(all.data(), static_cast<std::size_t>(children) * block, call.neighbour(-bit));
            return;
        }
        if (own + bit < ranks)
            call.recv(offset(all.data(), static_cast<std::size_t>(bit) * block),
                      static_cast<std::size_t>(std::min(bit, ranks - own - bit)) * block,
                      call.neighbour(bit));
    }
    const auto before = static_cast<std::size_t>(ranks - root) * block,
               after = static_cast<std::size_t>(root) * block;
    copy_bytes(offset(out, after), all.data(), before);
    copy_bytes(out, offset(all.data(), before), after);
}

// The root's blocks from all others, and its own from `in`.
template <class Blocks>
void gather_blocks(collective_call &call, const void *in, std::size_t size, const Blocks &block, int root) {
    if (call.rank() != root) {
        call.send(in, size, root);
        return;
    }
    copy_bytes(block(root).data(), in, size);
    for (int distance = 1; distance < call.size(); ++distance) {
        const int from = call.neighbour(distance);
        call.recv(block(from).data(), block(from).size(), from);
    }
}

} // namespace

void gather(endpoint &ep, const void *in, void *out, std::size_t block, int root, std::uint32_t sequence) {
    collective_call call(ep, collective::gather, sequence);
    call.check_root(root);
    if (block < large_block)
        gather_tree(call, in, out, block, root);
    else
        gather_blocks(call, in, block, blocks_of(out, block), root);
}

void gatherv(endpoint &ep, const void *in, std::size_t size, void *out, sizes sizes_of, sizes offsets,
             int root, std::uint32_t sequence) {
    collective_call call(ep, collective::gatherv, sequence);
    call.check_root(root);
    if (call.rank() == root) {
        call.check_each("gatherv", sizes_of, offsets);
        check_fits("gatherv", "what the root has for itself (bytes)", size,
                   sizes_of[static_cast<std::size_t>(root)]);
    }
    gather_blocks(call, in, size, blocks_of(out, sizes_of, offsets), root);
}

} // namespace fult::comm::detail
