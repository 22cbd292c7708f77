// How much of this process lies in memory.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace bench {

inline double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    if (!(statm >> total >> resident))
        throw std::runtime_error("cannot read /proc/self/statm");
    return double(resident) * double(sysconf(_SC_PAGESIZE));
}

} // namespace bench
