// Random numbers that a seed repeats.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace random_programs {

// splitmix64: one word of state, so that each act and each task has a source of its own.
class draw {
  public:
    explicit draw(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    // 0 ... bound - 1
    unsigned below(unsigned bound) noexcept { return static_cast<unsigned>((next() >> 33) % bound); }
    // least ... most
    unsigned between(unsigned least, unsigned most) noexcept { return least + below(most - least + 1); }
    bool one_in(unsigned n) noexcept { return below(n) == 0; }
    template <class T> T one_of(std::initializer_list<T> values) noexcept {
        return values.begin()[below(static_cast<unsigned>(values.size()))];
    }

  private:
    std::uint64_t state_;
};

// What a task with this seed returns: an oracle that both sides can compute.
inline std::uint64_t answer_to(std::uint64_t seed) noexcept { return draw(~seed).next(); }

} // namespace random_programs
