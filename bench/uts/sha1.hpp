// SHA-1 (FIPS 180-4) of the two messages that the tree needs; portable and without special instructions, as
// in the published program. Words are kept in the processor's own order: their bytes are never read.
#pragma once

#include <array>
#include <cstdint>

namespace bench::uts {

using digest = std::array<std::uint32_t, 5>;

// Of 16 zero bytes and the seed, most significant byte first.
digest hash_seed(std::uint32_t seed) noexcept;

// Of the parent's digest and the index of the child, most significant byte first.
digest hash_child(const digest &parent, std::uint32_t index) noexcept;

} // namespace bench::uts
