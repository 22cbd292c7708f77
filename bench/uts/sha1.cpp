#include "uts/sha1.hpp"

#include <bit>
#include <cstddef>
#include <utility>

namespace bench::uts {
namespace {
using word = std::uint32_t;

template <std::size_t Round> [[gnu::always_inline]] inline word mix(word b, word c, word d) noexcept {
    if constexpr (Round < 20)
        return (d ^ (b & (c ^ d))) + 0x5a827999u;
    else if constexpr (Round < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    else if constexpr (Round < 60)
        return ((b & c) + (d & (b ^ c))) + 0x8f1bbcdcu;
    else
        return (b ^ c ^ d) + 0xca62c1d6u;
}

// The schedule needs 16 words at a time: word i takes the place of word i - 16.
template <std::size_t Round> [[gnu::always_inline]] inline word scheduled(word (&w)[16]) noexcept {
    if constexpr (Round >= 16)
        w[Round % 16] =
            std::rotl(w[(Round + 13) % 16] ^ w[(Round + 8) % 16] ^ w[(Round + 2) % 16] ^ w[Round % 16], 1);
    return w[Round % 16];
}

// The five variables change their names instead of their values: what is a in one round is b in the next.
template <std::size_t Round> [[gnu::always_inline]] inline void round(word (&v)[5], word (&w)[16]) noexcept {
    constexpr std::size_t a = (80 - Round) % 5;
    word &b = v[(a + 1) % 5];
    word &e = v[(a + 4) % 5];
    e += std::rotl(v[a], 5) + mix<Round>(b, v[(a + 2) % 5], v[(a + 3) % 5]) + scheduled<Round>(w);
    b = std::rotl(b, 30);
}

template <std::size_t... Round>
[[gnu::always_inline]] inline void all_rounds(word (&v)[5], word (&w)[16],
                                              std::index_sequence<Round...>) noexcept {
    (round<Round>(v, w), ...);
}

// One block: the message and its padding are in w.
[[gnu::always_inline]] inline digest hash_block(word (&w)[16]) noexcept {
    constexpr word initial[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    word v[5] = {initial[0], initial[1], initial[2], initial[3], initial[4]};
    all_rounds(v, w, std::make_index_sequence<80>());
    return {initial[0] + v[0], initial[1] + v[1], initial[2] + v[2], initial[3] + v[3], initial[4] + v[4]};
}
constexpr word end_mark = 0x80000000u; // the bit behind the message
} // namespace

digest hash_seed(std::uint32_t seed) noexcept {
    word w[16] = {0, 0, 0, 0, seed, end_mark, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 * 8};
    return hash_block(w);
}

digest hash_child(const digest &parent, std::uint32_t index) noexcept {
    word w[16] = {parent[0], parent[1], parent[2], parent[3], parent[4], index, end_mark, 0,
                  0,         0,         0,         0,         0,         0,     0,        24 * 8};
    return hash_block(w);
}

} // namespace bench::uts
