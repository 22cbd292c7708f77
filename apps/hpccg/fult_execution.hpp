// Loops over blocks as tasks.
#pragma once

#include <cstdint>

#include <fult/fult.hpp>
#include <fult/loops.hpp>

namespace hpccg {

// Needs a runtime.
class fult_execution {
  public:
    static constexpr const char *name = "FULT";

    unsigned workers() const { return static_cast<unsigned>(fult::worker_count()); }

    template <class Body> void for_ranges(std::int64_t count, const Body &body) const {
        fult::parallel_for_ranges(std::int64_t{0}, count, body);
    }
};

} // namespace hpccg
