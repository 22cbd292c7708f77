// A number that nobody can guess.
#pragma once

#include <cstdint>
#include <random>

namespace fult::comm::detail {

// Throws std::exception where the system has no randomness.
inline std::uint64_t random_number() {
    std::random_device system;
    return static_cast<std::uint64_t>(system()) << 32 | system();
}

} // namespace fult::comm::detail
