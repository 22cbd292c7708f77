// Loops over blocks by a team of OpenMP.
#pragma once

#include <cstdint>

namespace hpccg {

class openmp_execution {
  public:
    static constexpr const char *name = "OpenMP";

    explicit openmp_execution(unsigned workers) : workers_(workers) {}
    unsigned workers() const { return workers_; }

    // Equal shares, the same for every loop: what is written by a thread is read by it later.
    template <class Body> void for_ranges(std::int64_t count, const Body &body) const {
#pragma omp parallel for schedule(static) num_threads(workers_)
        for (std::int64_t block = 0; block < count; ++block)
            body(block, block + 1);
    }

  private:
    unsigned workers_;
};

} // namespace hpccg
