// Validation accepts what a search finds, and rejects each kind of wrong tree by its rule.
#include <functional>
#include <string>
#include <vector>

#include "apps/bfs/construct.hpp"
#include "apps/bfs/validate.hpp"
#include "support.hpp"

namespace bfs {
namespace {
using testing::on_ranks;
using testing::part_of;
using testing::thread_ranks;

// A square 0-1-2-3 with a tail 2-4-5 and a leaf 6 at 1; 7 and 8 are apart. From 0 the levels are 0 1 2 1 3 4
// 2 - -.
const std::vector<edge> square{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {4, 5}, {1, 6}, {7, 8}, {8, 8}};

// The whole tree, on one rank.
struct whole_tree {
    std::vector<vertex> parents{0, 0, 1, 0, 2, 4, 1, no_vertex, no_vertex};
    std::vector<std::int32_t> levels{0, 1, 2, 1, 3, 4, 2, -1, -1};
};

class Validation : public ::testing::TestWithParam<int> {
  protected:
    // The verdict about a tree from 0, on all ranks.
    verdict check(const whole_tree &given) {
        verdict result;
        on_ranks(GetParam(), [&](thread_ranks &ranks) {
            const partition among(ranks.rank(), ranks.size(), 9);
            tree own(among.own_vertices());
            for (std::size_t local = 0; local < among.own_vertices(); ++local) {
                own.parents[local] = given.parents[std::size_t(among.global(local))];
                own.levels[local] = given.levels[std::size_t(among.global(local))];
            }
            const verdict here = validate(ranks, among, part_of(square, ranks), own, 0);
            EXPECT_EQ(ranks.sum(here.rule), here.rule * ranks.size()) << "the ranks disagree";
            if (ranks.rank() == 0)
                result = here;
        });
        return result;
    }

    void expect(int rule, std::int64_t times, const std::function<void(whole_tree &)> &damage) {
        whole_tree wrong;
        damage(wrong);
        const verdict found = check(wrong);
        EXPECT_EQ(found.rule, rule) << found.text();
        EXPECT_EQ(found.times, times) << found.text();
    }
};

TEST_P(Validation, AcceptsRightTrees) {
    EXPECT_TRUE(check({}).right());
    EXPECT_EQ(check({}).text(), "passed");
    expect(0, 0, [](whole_tree &t) { t.parents[2] = 3; }); // the other way round the square
}

TEST_P(Validation, AcceptsWhatASearchFinds) {
    on_ranks(GetParam(), [&](thread_ranks &ranks) {
        const graph g = construct(ranks, part_of(square, ranks));
        for (const vertex root : {0, 5, 8}) {
            const tree found = search(ranks, g, root);
            EXPECT_TRUE(validate(ranks, g.among(), part_of(square, ranks), found, root).right());
            const verdict other = validate(ranks, g.among(), part_of(square, ranks), found, 3);
            EXPECT_EQ(other.rule, 1) << "a tree of another root";
        }
    });
}

TEST_P(Validation, RejectsCyclesAndRootsThatAreNone) {
    expect(1, 2, [](whole_tree &t) { t.parents[4] = 5; });             // 4 and 5 are each other's parents
    expect(1, 1, [](whole_tree &t) { t.parents[5] = 5; });             // a second root
    expect(1, 1, [](whole_tree &t) { t.parents[0] = 1; });             // the root has a parent
    expect(1, 2, [](whole_tree &t) { t.parents[4] = no_vertex + 8; }); // below a vertex outside the tree
    expect(1, 2, [](whole_tree &t) { t.parents[4] = 9; });             // below no vertex
    expect(1, 1, [](whole_tree &t) { t.parents[6] = -7; });
}

TEST_P(Validation, RejectsLevelsThatDoNotFollowTheParents) {
    expect(2, 2, [](whole_tree &t) { t.levels[4] = 2; }); // 4 is beside its parent, 5 two below it
    expect(2, 1, [](whole_tree &t) { t.levels[6] = 3; });
    expect(2, 1, [](whole_tree &t) { t.levels[7] = 5; }); // a level outside the tree
    expect(2, 3, [](whole_tree &t) { t.levels[0] = 1; }); // and the two children of the root
}

TEST_P(Validation, RejectsATreeThatIsNotTheShortest) {
    // 3 is reached through 2, but the edge 3-0 joins levels 3 and 0.
    expect(3, 1, [](whole_tree &t) {
        t.parents[3] = 2;
        t.levels[3] = 3;
    });
}

TEST_P(Validation, RejectsATreeThatLeavesVerticesOut) {
    expect(4, 1, [](whole_tree &t) {
        t.parents[5] = no_vertex;
        t.levels[5] = -1;
    });
    expect(4, 2, [](whole_tree &t) { // edges of 3
        t.parents[3] = no_vertex;
        t.levels[3] = -1;
    });
}

TEST_P(Validation, RejectsParentsThatAreNoNeighbors) {
    expect(5, 1, [](whole_tree &t) { t.parents[6] = 3; }); // of the right level
    expect(5, 2, [](whole_tree &t) {                       // 7 and 8 have no edge to the component
        t.parents[7] = t.parents[8] = 0;
        t.levels[7] = t.levels[8] = 1;
    });
}

INSTANTIATE_TEST_SUITE_P(OnRanks, Validation, ::testing::Values(1, 2, 3, 4));

} // namespace
} // namespace bfs
