#pragma once

#include <vector>

// Who runs where.
namespace fult::run {

struct processor {
    int number;  // as sched_setaffinity counts
    int package; // the socket
    int core;    // within the package; siblings share one
};

// Those that this process may use, neighbours side by side: by package, then core.
std::vector<processor> allowed_processors();

// The processors of each rank: as even as it goes, contiguous, and no core in two ranks where there is a core
// for each. Empty if there are fewer processors than ranks.
std::vector<std::vector<int>> share_out(const std::vector<processor> &processors, int ranks);

} // namespace fult::run
