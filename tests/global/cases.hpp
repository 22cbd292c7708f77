// The requirements on global memory, as cases that all ranks of a job run together: in one process over
// loopback (global_loopback_test.cpp), and as processes (global_ranks.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include <fult/global.hpp>

#include "global/state.hpp"
#include "tests/comm/conformance/party.hpp"

namespace fult::global::testing {

using comm::testing::conformance_case;
using comm::testing::party;
using comm::testing::require;
using comm::testing::require_equal;
using comm::testing::require_error;
using comm::testing::require_throw;

std::span<const conformance_case> global_cases();

// The parts of the list, a file each.
std::span<const conformance_case> access_cases();
std::span<const conformance_case> atomic_cases();
std::span<const conformance_case> cache_cases();
std::span<const conformance_case> container_cases();
std::span<const conformance_case> counter_cases();
std::span<const conformance_case> heap_cases();
std::span<const conformance_case> random_cases();
std::span<const conformance_case> task_cases();

// Random operations from a seed: random_cases.cpp.
void run_random_program(party &p, std::uint64_t seed);

// A pointer of each rank.
template <class T> std::vector<global_ptr<T>> all_pointers(party &p, global_ptr<T> own) {
    std::vector<global_ptr<T>> all(static_cast<std::size_t>(p.size));
    comm::allgather(p.world, own, all);
    return all;
}

// As if this process could not map the heaps of other ranks: their owners are asked.
inline void unmap_others(const party &p, memory &m) {
    for (int other = 0; other < p.size; ++other)
        if (other != p.rank)
            m.state().heaps[static_cast<std::size_t>(other)].begin = nullptr;
}

// A number that differs between ranks and elements.
inline std::uint64_t number_of(int rank, std::size_t index) {
    return (static_cast<std::uint64_t>(rank) + 1) * 1'000'003 + index;
}

} // namespace fult::global::testing
