// The edge list: its size, its distribution, and that each part of it can be made alone.
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <utility>
#include <vector>

#include "apps/bfs/generator.hpp"

namespace bfs {
namespace {

TEST(Permutation, ReachesEachNumberOnce) {
    for (int bits = 0; bits <= 12; ++bits)
        for (std::uint64_t key = 0; key < 8; ++key) {
            const permutation mapped(bits, key);
            std::set<vertex> seen;
            for (vertex i = 0; i < vertex{1} << bits; ++i)
                seen.insert(mapped(i));
            EXPECT_EQ(seen.size(), std::size_t{1} << bits) << bits << " bits, key " << key;
            EXPECT_EQ(*seen.begin(), 0);
            EXPECT_EQ(*seen.rbegin(), (vertex{1} << bits) - 1);
        }
}

TEST(Permutation, DependsOnItsKeyAndScattersNeighbors) {
    const permutation first(16, 1), second(16, 2);
    int same = 0, adjacent = 0;
    for (vertex i = 0; i < 1 << 16; ++i) {
        same += first(i) == second(i);
        adjacent += std::abs(first(i) - first((i + 1) & 0xffff)) == 1;
    }
    EXPECT_LT(same, 64); // one is expected
    EXPECT_LT(adjacent, 64);
}

TEST(Generator, MakesAsManyEdgesAsTheFactorDemands) {
    const generator made(10, 16, 1);
    EXPECT_EQ(made.vertices(), 1024);
    EXPECT_EQ(made.edges(), 16384);
    for (const edge &each : made.list(0, made.edges())) {
        EXPECT_TRUE(each.from >= 0 && each.from < 1024);
        EXPECT_TRUE(each.to >= 0 && each.to < 1024);
    }
}

TEST(Generator, MakesAnyPartAlone) {
    const generator made(8, 16, 7);
    const auto whole = made.list(0, made.edges());
    for (const std::int64_t parts : {1, 3, 64}) {
        std::vector<edge> joined;
        for (std::int64_t k = 0; k < parts; ++k) {
            const auto part = made.list(made.edges() * k / parts, made.edges() * (k + 1) / parts);
            joined.insert(joined.end(), part.begin(), part.end());
        }
        EXPECT_EQ(joined, whole) << parts << " parts";
    }
    EXPECT_NE(generator(8, 16, 8).list(0, made.edges()), whole);
}

// Each level of each edge chooses a quarter with the probabilities of the specification.
TEST(Generator, ChoosesQuartersWithTheirProbabilities) {
    constexpr int scale = 12;
    const generator made(scale, 16, 3);
    const double edges = double(made.edges());
    std::array<std::array<int, 4>, scale> chosen{};
    for (std::int64_t i = 0; i < made.edges(); ++i) {
        const edge e = made.unpermuted(i);
        for (int level = 0; level < scale; ++level)
            ++chosen[std::size_t(level)][std::size_t(((e.from >> level) & 1) * 2 + ((e.to >> level) & 1))];
    }
    constexpr std::array probabilities{0.57, 0.19, 0.19, 0.05};
    for (int level = 0; level < scale; ++level)
        for (std::size_t quarter = 0; quarter < 4; ++quarter) {
            const double p = probabilities[quarter], deviation = std::sqrt(edges * p * (1 - p));
            EXPECT_NEAR(chosen[std::size_t(level)][quarter], edges * p, 5 * deviation)
                << "level " << level << ", quarter " << quarter;
        }
}

TEST(Generator, PermutesVerticesOnly) {
    const generator made(10, 4, 5);
    std::vector<vertex> label(1024, no_vertex);
    for (std::int64_t i = 0; i < made.edges(); ++i) {
        const edge plain = made.unpermuted(i), labelled = made.at(i);
        for (const auto &[before, after] :
             {std::pair(plain.from, labelled.from), std::pair(plain.to, labelled.to)}) {
            vertex &known = label[std::size_t(before)];
            EXPECT_TRUE(known == no_vertex || known == after);
            known = after;
        }
    }
}

} // namespace
} // namespace bfs
