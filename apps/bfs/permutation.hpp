// A pseudo-random permutation of the numbers below a power of two.
#pragma once

#include <array>
#include <cstdint>

#include "edge.hpp"

namespace bfs {

// Computed, not stored: rounds of multiplications by odd numbers and of shifted exclusive ors, each of which
// is a bijection of `bits` bits.
class permutation {
  public:
    permutation(int bits, std::uint64_t key);
    vertex operator()(vertex number) const;

  private:
    struct round {
        std::uint64_t factor, addend;
    };
    std::array<round, 4> rounds_;
    std::uint64_t mask_;
    int shift_;
};

} // namespace bfs
