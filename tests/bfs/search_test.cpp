// Construction, roots and searches, on ranks that are threads.
#include <set>
#include <vector>

#include "apps/bfs/construct.hpp"
#include "apps/bfs/generator.hpp"
#include "apps/bfs/search_keys.hpp"
#include "support.hpp"

namespace bfs {
namespace {
using testing::on_ranks;
using testing::part_of;
using testing::thread_ranks;

// Two triangles joined by 2-3, a loop, a repeated edge, a separate pair, and 8 without an edge but its loop.
const std::vector<edge> small{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5},
                              {5, 3}, {0, 0}, {1, 0}, {6, 7}, {8, 8}};

class Ranks : public ::testing::TestWithParam<int> {};

TEST_P(Ranks, ConstructTheGraphOfTheList) {
    std::vector<std::multiset<vertex>> neighbors(9);
    std::vector<std::uint32_t> tuples(9);
    for (const edge &each : small) {
        ++tuples[std::size_t(each.from)];
        if (each.from == each.to)
            continue;
        neighbors[std::size_t(each.from)].insert(each.to);
        neighbors[std::size_t(each.to)].insert(each.from);
    }
    on_ranks(GetParam(), [&](thread_ranks &ranks) {
        const graph g = construct(ranks, part_of(small, ranks));
        ASSERT_EQ(g.among().vertices(), 9);
        for (std::size_t local = 0; local < g.among().own_vertices(); ++local) {
            const auto v = std::size_t(g.among().global(local));
            const auto found = g.neighbors(local);
            EXPECT_EQ(std::multiset<vertex>(found.begin(), found.end()), neighbors[v]) << v;
            EXPECT_EQ(g.tuples(local), tuples[v]) << v;
        }
    });
}

TEST_P(Ranks, FindTheLevelsOfASmallGraph) {
    const std::vector<std::int32_t> expected{0, 1, 1, 2, 3, 3, -1, -1, -1};
    on_ranks(GetParam(), [&](thread_ranks &ranks) {
        const graph g = construct(ranks, part_of(small, ranks));
        const tree found = search(ranks, g, 0);
        for (std::size_t local = 0; local < found.levels.size(); ++local)
            EXPECT_EQ(found.levels[local], expected[std::size_t(g.among().global(local))]);
        if (g.among().is_own(3)) {
            EXPECT_EQ(found.parents[g.among().local(3)], 2);
        }
        if (g.among().is_own(6)) {
            EXPECT_EQ(found.parents[g.among().local(6)], no_vertex);
        }
        EXPECT_EQ(edges_reached(ranks, g, found), 9);
        EXPECT_EQ(edges_reached(ranks, g, search(ranks, g, 7)), 1);
    });
}

TEST_P(Ranks, FindTheDistancesInAKroneckerGraph) {
    const generator whole(8, 4, 11);
    const auto list = whole.list(0, whole.edges());
    on_ranks(GetParam(), [&](thread_ranks &ranks) {
        const graph g = construct(ranks, part_of(list, ranks));
        for (const vertex root : search_keys(ranks, g, 4, 1)) {
            const tree found = search(ranks, g, root);
            const auto expected = testing::distances(list, g.among().vertices(), root);
            for (std::size_t local = 0; local < found.levels.size(); ++local)
                EXPECT_EQ(found.levels[local], expected[std::size_t(g.among().global(local))]);
            std::int64_t reached = 0;
            for (const edge &each : list)
                reached += expected[std::size_t(each.from)] != -1;
            EXPECT_EQ(edges_reached(ranks, g, found), reached);
        }
    });
}

TEST_P(Ranks, BeginAtVerticesWithNeighbors) {
    on_ranks(GetParam(), [&](thread_ranks &ranks) {
        const graph g = construct(ranks, part_of(small, ranks));
        const auto all = search_keys(ranks, g, 64, 3);
        EXPECT_EQ(std::set<vertex>(all.begin(), all.end()), (std::set<vertex>{0, 1, 2, 3, 4, 5, 6, 7}));
        EXPECT_EQ(all.size(), 8u);
        const auto some = search_keys(ranks, g, 3, 3);
        EXPECT_EQ(some, std::vector<vertex>(all.begin(), all.begin() + 3));
        const std::vector<edge> loop{{0, 0}};
        EXPECT_TRUE(search_keys(ranks, construct(ranks, part_of(loop, ranks)), 64, 3).empty());
    });
}

INSTANTIATE_TEST_SUITE_P(Search, Ranks, ::testing::Values(1, 2, 3, 5));

} // namespace
} // namespace bfs
