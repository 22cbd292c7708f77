// An unpredictable number.
#pragma once

#include <cstdint>
#include <random>

namespace fult::comm::detail {

// Throws std::exception if the system has no source of randomness.
inline std::uint64_t random_number() {
    std::random_device system;
    return static_cast<std::uint64_t>(system()) << 32 | system();
}

} // namespace fult::comm::detail
