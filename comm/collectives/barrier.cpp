#include "comm/collectives/call.hpp"

namespace fult::comm {

// Dissemination: after round k each rank has heard of 2^(k+1) - 1 others.
void barrier(endpoint &among) {
    detail::collective_call call(among, detail::collective::barrier);
    std::uint32_t round = 0;
    for (int distance = 1; distance < call.size(); distance *= 2, ++round)
        call.exchange(nullptr, 0, call.neighbour(distance), nullptr, 0, call.neighbour(-distance), round);
}

} // namespace fult::comm
