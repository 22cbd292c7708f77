#include <algorithm>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// From this size on the tree costs more: it sends all data once for each of its levels.
constexpr std::size_t large_broadcast = std::size_t{256} << 10;
constexpr int max_tree_ranks = 4; // up to so many ranks the tree is as good

// Binomial tree with ranks counted from the root: clearing its lowest bit gives a rank's parent.
void broadcast_tree(collective_call &call, void *data, std::size_t size, int root) {
    const int own = call.neighbour(-root);
    int bit = 1;
    for (; bit < call.size(); bit *= 2)
        if ((own & bit) != 0) {
            call.recv(data, size, call.neighbour(-bit));
            break;
        }
    for (bit /= 2; bit > 0; bit /= 2)
        if (own + bit < call.size())
            call.send(data, size, call.neighbour(bit));
}

// The root scatters the parts along the same tree; then they are allgathered in a ring (van de Geijn).
void broadcast_scatter_allgather(collective_call &call, void *data, std::size_t size, int root) {
    const auto ranks = static_cast<std::size_t>(call.size());
    const auto own = static_cast<std::size_t>(call.neighbour(-root));
    const std::size_t part = (size + ranks - 1) / ranks;
    FULT_ASSERT(part * ranks >= size && own < ranks);
    const auto begin = [&](std::size_t index) { return std::min(index * part, size); };
    std::size_t bit = 1;
    for (; bit < ranks; bit *= 2)
        if ((own & bit) != 0) {
            call.recv(offset(data, begin(own)), begin(std::min(own + bit, ranks)) - begin(own),
                      call.neighbour(-static_cast<int>(bit)));
            break;
        }
    for (bit /= 2; bit > 0; bit /= 2)
        if (own + bit < ranks)
            call.send(offset(data, begin(own + bit)),
                      begin(std::min(own + 2 * bit, ranks)) - begin(own + bit),
                      call.neighbour(static_cast<int>(bit)));
    for (std::size_t step = 0; step + 1 < ranks; ++step) {
        const std::size_t out = (own + ranks - step) % ranks, in = (out + ranks - 1) % ranks;
        call.exchange(offset(data, begin(out)), begin(out + 1) - begin(out), call.neighbour(1),
                      offset(data, begin(in)), begin(in + 1) - begin(in), call.neighbour(-1), 1);
    }
}

} // namespace

void broadcast(endpoint &ep, void *data, std::size_t size, int root, std::uint32_t sequence) {
    collective_call call(ep, collective::broadcast, sequence);
    call.check_root(root);
    if (size >= large_broadcast && call.size() > max_tree_ranks)
        broadcast_scatter_allgather(call, data, size, root);
    else
        broadcast_tree(call, data, size, root);
}

} // namespace fult::comm::detail
