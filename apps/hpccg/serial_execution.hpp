// An execution runs loops over blocks. This one has a single worker: the caller.
#pragma once

#include <cstdint>

namespace hpccg {

class serial_execution {
  public:
    static constexpr const char *name = "serial";

    unsigned workers() const { return 1; }

    // Calls body(first, last) for ranges that together are 0 ... count - 1.
    template <class Body> void for_ranges(std::int64_t count, const Body &body) const { body(0, count); }
};

} // namespace hpccg
