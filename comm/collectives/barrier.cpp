#include "comm/collectives/call.hpp"

namespace fult::comm {
namespace detail {

// Dissemination: after round k each rank has heard of 2^(k+1) - 1 others.
void barrier(endpoint &ep, std::uint32_t sequence) {
    collective_call call(ep, collective::barrier, sequence);
    std::uint32_t round = 0;
    for (int distance = 1; distance < call.size(); distance *= 2, ++round)
        call.exchange(nullptr, 0, call.neighbour(distance), nullptr, 0, call.neighbour(-distance), round);
}

} // namespace detail

void barrier(endpoint &ep) { detail::barrier(ep, 0); }

} // namespace fult::comm
