#include "permutation.hpp"

#include "apps/support/random.hpp"

namespace bfs {

permutation::permutation(int bits, std::uint64_t key)
    : mask_((std::uint64_t{1} << bits) - 1), shift_(bits / 2 + 1) {
    std::uint64_t index = 0;
    for (round &each : rounds_) {
        each.factor = apps::random_at(key, index++) | 1;
        each.addend = apps::random_at(key, index++);
    }
}

vertex permutation::operator()(vertex number) const {
    auto word = std::uint64_t(number);
    for (const round &each : rounds_) {
        word = (word * each.factor + each.addend) & mask_;
        word ^= word >> shift_;
    }
    return vertex(word);
}

} // namespace bfs
