#pragma once

#include <vector>

// Assignment of processors to ranks.
namespace fult::run {

struct processor {
    int number;  // as in sched_setaffinity
    int package; // the socket
    int core;    // within the package; siblings share one
};

// The processors that this process may use, in topological order: by package, then core.
std::vector<processor> allowed_processors();

// The processors of each rank: balanced, contiguous, and with no core shared by two ranks if there is a core
// for each. Empty if there are fewer processors than ranks.
std::vector<std::vector<int>> share_out(const std::vector<processor> &processors, int ranks);

} // namespace fult::run
