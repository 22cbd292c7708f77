// Which ranks the operations under way need, for the report of a job that hangs.
#pragma once

#include <cstddef>

#include "operation.hpp"

namespace fult::mpi {

// A few ranks, or calls that have no peer, each with the number of operations; the others are counted
// together.
class peer_counts {
  public:
    void add(const operation &op) noexcept;

    // "12 are under way: 8 from rank 1, 3 to rank 2, 1 in MPI_Barrier".
    void describe(char *text, std::size_t size) const noexcept;

  private:
    struct entry {
        const call_facts *facts; // of one of them
        unsigned count;
    };
    static constexpr std::size_t max_entries = 8;

    entry entries_[max_entries];
    std::size_t used_ = 0;
    unsigned all_ = 0;
    unsigned others_ = 0;
};

} // namespace fult::mpi
