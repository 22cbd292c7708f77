// An MPI, called by tasks: the program is linked with fult-mpi's layer on that MPI.
#pragma once

#include <fult/join.hpp>
#include <fult/runtime.hpp>
#include <fult/spawn.hpp>

#include "comm/mpi_connection.hpp"

namespace bench {

struct runtime_of_rank {
    fult::runtime runtime;
};

// The runtime begins before MPI, and ends after it.
class connection : private runtime_of_rank, public mpi_connection {
  public:
    explicit connection(bool threads) : mpi_connection(threads) {}

    static unsigned workers() noexcept { return static_cast<unsigned>(fult::worker_count()); }

    template <class Function> void tasks(unsigned long n, Function function) {
        std::vector<decltype(fult::spawn(function, 0UL))> all(n);
        for (unsigned long k = 0; k < n; ++k)
            all[k] = fult::spawn(function, k);
        fult::join_all(all);
    }
};

} // namespace bench
