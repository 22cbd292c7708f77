// The contents of a random program: numbers and bytes that all ranks derive from the seed alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fult::comm::testing {

constexpr std::uint64_t mixed(std::uint64_t x) noexcept { // splitmix64
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

// One seed of several numbers, in their order.
template <class... T> constexpr std::uint64_t seed_of(std::uint64_t first, T... more) noexcept {
    std::uint64_t seed = mixed(first);
    ((seed = mixed(seed ^ static_cast<std::uint64_t>(more))), ...);
    return seed;
}

// Random numbers, the same everywhere for one seed.
class dice {
  public:
    explicit constexpr dice(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint64_t next() noexcept { return mixed(state_++ * 0x2545f4914f6cdd1dU); }
    // 0 ... bound - 1
    template <class T> T below(T bound) noexcept {
        return static_cast<T>(next() % static_cast<std::uint64_t>(bound));
    }
    // low ... high
    template <class T> T between(T low, T high) noexcept { return low + below(high - low + 1); }
    bool chance(unsigned percent) noexcept { return below(100U) < percent; }
    template <class T, std::size_t N> T one_of(const T (&all)[N]) noexcept { return all[below(N)]; }

  private:
    std::uint64_t state_;
};

// The bytes of a message, or of a slice of memory, are those of its seed.
inline std::uint64_t word_at(std::uint64_t seed, std::size_t word) noexcept { return mixed(seed + word); }

inline void fill(std::span<std::byte> bytes, std::uint64_t seed) noexcept {
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        const std::uint64_t word = word_at(seed, i / 8);
        std::memcpy(bytes.data() + i, &word, 8);
    }
    if (const std::uint64_t word = word_at(seed, i / 8); i < bytes.size())
        std::memcpy(bytes.data() + i, &word, bytes.size() - i);
}

// The first byte that is not that of the seed, or the size.
inline std::size_t first_difference(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
        const std::uint64_t word = word_at(seed, i / 8);
        const std::size_t some = bytes.size() - i < 8 ? bytes.size() - i : 8;
        if (std::memcmp(bytes.data() + i, &word, some) != 0)
            for (std::size_t k = 0; k < some; ++k)
                if (bytes[i + k] != static_cast<std::byte>(word >> (8 * k)))
                    return i + k;
    }
    return bytes.size();
}

} // namespace fult::comm::testing
