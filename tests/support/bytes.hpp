// Bytes that show where they belong: those of a message of some seed begin somewhere in a sequence that
// repeats itself after a prime number of bytes. They are copied and compared in blocks, since most tests are
// not optimized.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fult::testing {

inline constexpr std::size_t period_of_bytes = 65'521;

// The sequence, from the place where the bytes of the seed begin.
inline std::size_t start_of_bytes(std::uint64_t seed) { return seed * 0x9e3779b97f4a7c15U % period_of_bytes; }
inline const std::array<std::byte, period_of_bytes> &sequence_of_bytes() {
    static const auto all = [] {
        std::array<std::byte, period_of_bytes> random{};
        std::uint32_t state = 1;
        for (std::byte &each : random)
            each = static_cast<std::byte>((state = state * 1'664'525 + 1'013'904'223) >> 24);
        return random;
    }();
    return all;
}

inline std::byte byte_at(std::uint64_t seed, std::size_t i) {
    return sequence_of_bytes()[(start_of_bytes(seed) + i) % period_of_bytes];
}

// Calls f(i, block) for consecutive blocks of the bytes from the first-th on; i is the place of a block, from
// 0 on.
template <class F> void each_block(std::uint64_t seed, std::size_t first, std::size_t size, F f) {
    std::size_t at = (start_of_bytes(seed) + first) % period_of_bytes;
    for (std::size_t i = 0; i < size; at = 0) {
        const auto block =
            std::span(sequence_of_bytes()).subspan(at, std::min(size - i, period_of_bytes - at));
        f(i, block);
        i += block.size();
    }
}

inline void fill_bytes(std::uint64_t seed, std::size_t first, void *to, std::size_t size) {
    each_block(seed, first, size, [&](std::size_t i, std::span<const std::byte> block) {
        std::memcpy(static_cast<std::byte *>(to) + i, block.data(), block.size());
    });
}
inline bool are_bytes(std::uint64_t seed, std::size_t first, const void *found, std::size_t size) {
    bool all = true;
    each_block(seed, first, size, [&](std::size_t i, std::span<const std::byte> block) {
        all = all && std::memcmp(static_cast<const std::byte *>(found) + i, block.data(), block.size()) == 0;
    });
    return all;
}

// Whether each of them is this value.
inline bool all_are(std::byte value, const void *found, std::size_t size) {
    const auto *const bytes = static_cast<const std::byte *>(found);
    return size == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

} // namespace fult::testing
