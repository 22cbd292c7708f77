// Stripes, sections and blocks: what ranks compute in any allowed order is the solution.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/sptrsv/block_solver.hpp"
#include "apps/sptrsv/partition.hpp"
#include "apps/sptrsv/stripe.hpp"
#include "apps/sptrsv/verify.hpp"
#include "support.hpp"

namespace sptrsv {
namespace {
using testing::numbers;
using testing::systems;

TEST(Partition, HasAllRowsInSectionsOfOneRank) {
    for (const triangle &of : systems())
        for (const int ranks : {1, 2, 3, 7, 50})
            for (const std::int64_t entries : {1, 10, 1000}) {
                const partition among = divide(of, ranks, entries);
                ASSERT_EQ(among.ranks(), ranks);
                EXPECT_EQ(among.stripes.front(), 0);
                EXPECT_EQ(among.stripes.back(), of.rows());
                EXPECT_TRUE(std::is_sorted(among.stripes.begin(), among.stripes.end()));
                EXPECT_EQ(among.sections.front(), 0);
                EXPECT_EQ(among.sections.back(), of.rows());
                EXPECT_EQ(among.first_section.back(), among.section_count());
                for (index section = 0; section < among.section_count(); ++section) {
                    const auto s = std::size_t(section);
                    const auto owner = std::size_t(among.owner_of[s]);
                    ASSERT_LT(among.sections[s], among.sections[s + 1]);
                    ASSERT_GE(among.sections[s], among.stripes[owner]);
                    ASSERT_LE(among.sections[s + 1], among.stripes[owner + 1]);
                    for (index row = among.sections[s]; row < among.sections[s + 1]; ++row)
                        ASSERT_EQ(among.section_of[std::size_t(row)], section);
                }
            }
}

TEST(Partition, CutsGridsWhereTheirLinesBegin) {
    const partition lines = divide(laplacian({100, 80}), 2, 100);
    EXPECT_EQ(lines.stripes, (std::vector<index>{0, 4000, 8000}));
    for (index line = 0; line < 80; ++line)
        EXPECT_TRUE(std::binary_search(lines.sections.begin(), lines.sections.end(), line * 100)) << line;
    EXPECT_GE(lines.section_count(), 3 * 80 - 2); // about 300 entries in a line
    EXPECT_LE(lines.section_count(), 4 * 80);
    const partition planes = divide(laplacian({10, 20, 30}), 3, 400);
    for (index plane = 0; plane < 30; ++plane)
        EXPECT_TRUE(std::binary_search(planes.sections.begin(), planes.sections.end(), plane * 200)) << plane;
}

TEST(Partition, BalancesEntries) {
    const triangle of = laplacian({50, 40, 1, stencil::box});
    const partition among = divide(of, 4, 100);
    std::vector<std::int64_t> entries(4);
    for (index row = 0; row < of.rows(); ++row)
        for (const index column : of.columns_of(row))
            ++entries[std::size_t(among.owner(column))];
    for (const std::int64_t each : entries)
        EXPECT_NEAR(double(each), double(of.entries() - of.rows()) / 4, double(of.entries()) / 20);
    for (std::size_t section = 0; section + 1 < among.sections.size(); ++section) {
        std::int64_t size = 0;
        for (index row = among.sections[section]; row < among.sections[section + 1]; ++row)
            size += of.entries_of(row);
        EXPECT_LE(size, 155);
    }
}

// A plane has 16 sections of two lines; a block those at the same place in planes that follow one another.
TEST(Stripe, JoinsSectionsUpToANumberOfEntries) {
    const triangle of = laplacian({10, 32, 12});
    const partition among = divide(of, 2, 80);
    const stripe each_alone = make_stripe(of, among, 0, 1), joined = make_stripe(of, among, 0, 240);
    EXPECT_EQ(each_alone.own_blocks, std::size_t(among.first_section[1]));
    EXPECT_LT(joined.own_blocks * 2, each_alone.own_blocks);
    EXPECT_EQ(joined.rows.size(), each_alone.rows.size());
    for (std::size_t block = 0; block < joined.own_blocks; ++block)
        EXPECT_LE(joined.starts[joined.blocks[block].last] - joined.starts[joined.blocks[block].first], 240);
}

// The own rows that a block requires, directly or not, its own ones included: by position.
std::vector<bool> required_rows(const stripe &own, std::size_t block) {
    std::vector<bool> blocks(own.blocks.size()), rows(own.own_rows());
    blocks[block] = true;
    for (std::size_t changes = 1; changes != 0;) {
        changes = 0;
        for (std::size_t each = 0; each < own.own_blocks; ++each)
            for (const index after : own.successors_of(each))
                if (blocks[std::size_t(after)] && !blocks[each]) {
                    blocks[each] = true;
                    ++changes;
                }
    }
    for (std::size_t each = 0; each < own.own_blocks; ++each)
        for (std::size_t at = own.blocks[each].first; blocks[each] && at < own.blocks[each].last; ++at)
            rows[std::size_t(own.rows[at] - own.first)] = true;
    return rows;
}

bool awaits_others(const stripe &own, std::size_t block) {
    const std::vector<bool> rows = required_rows(own, block);
    for (std::size_t each = 0; each < own.own_blocks; ++each)
        if (!own.contributions_to(each).empty() &&
            rows[std::size_t(own.rows[own.blocks[each].first] - own.first)])
            return true;
    return false;
}

// What requires nothing of other ranks does not wait for them, and what they require is not delayed.
TEST(Stripe, JoinsNoSectionsThatRanksWouldWaitFor) {
    for (const triangle &of : systems())
        for (const int ranks : {2, 3}) {
            const partition among = divide(of, ranks, 9);
            for (int rank = 0; rank < ranks; ++rank) {
                const stripe alone = make_stripe(of, among, rank, 1),
                             own = make_stripe(of, among, rank, 1'000'000);
                std::vector<std::optional<bool>> awaits(own.own_blocks);
                for (index section = among.first_section[std::size_t(rank)];
                     section < among.first_section[std::size_t(rank) + 1]; ++section) {
                    std::optional<bool> &of_block = awaits[own.block_of(section)];
                    const bool here = awaits_others(alone, alone.block_of(section));
                    EXPECT_EQ(of_block.value_or(here), here) << section;
                    of_block = here;
                }
                for (std::size_t given = own.own_blocks; given < own.blocks.size(); ++given) {
                    const std::vector<bool> rows =
                        required_rows(alone, alone.own_blocks + given - own.own_blocks);
                    ASSERT_EQ(alone.blocks[alone.own_blocks + given - own.own_blocks].section,
                              own.blocks[given].section);
                    for (std::size_t block = 0; block < own.own_blocks; ++block)
                        for (const index after : own.successors_of(block))
                            for (std::size_t at = own.blocks[block].first;
                                 std::size_t(after) == given && at < own.blocks[block].last; ++at)
                                EXPECT_TRUE(rows[std::size_t(own.rows[at] - own.first)]);
                }
            }
        }
}

// All ranks in one thread. `take` chooses which of the ready blocks is next.
template <class Take>
std::vector<double> solve(const triangle &of, const std::vector<double> &right, int ranks,
                          std::int64_t entries, std::int64_t entries_in_block, const Take &take) {
    const partition among = divide(of, ranks, entries);
    struct member {
        stripe own;
        std::optional<block_solver> solver;
        std::vector<std::int32_t> requirements;
    };
    std::deque<member> all(static_cast<std::size_t>(ranks)); // which does not move what it has
    std::vector<std::pair<std::size_t, std::size_t>> ready;  // rank, block
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        member &each = all[rank];
        each.own = make_stripe(of, among, int(rank), entries_in_block);
        each.solver.emplace(each.own, right, ranks, int(rank));
        each.solver->forget();
        each.requirements = each.own.requirements;
        for (std::size_t block = 0; block < each.own.blocks.size(); ++block)
            if (each.requirements[block] == 0)
                ready.push_back({rank, block});
    }
    const auto meet = [&](std::size_t rank, std::size_t block) {
        EXPECT_GT(all[rank].requirements[block], 0);
        if (--all[rank].requirements[block] == 0)
            ready.push_back({rank, block});
    };
    std::size_t done = 0;
    while (!ready.empty()) {
        const auto chosen = ready.begin() + std::ptrdiff_t(take(ready.size()));
        const auto [rank, block] = *chosen;
        ready.erase(chosen);
        ++done;
        member &here = all[rank];
        if (here.own.solves(block)) {
            here.solver->solve(block);
        } else {
            const std::span<const double> given = here.solver->contribute(block);
            const index section = here.own.blocks[block].section;
            const auto to = std::size_t(among.owner_of[std::size_t(section)]);
            const std::size_t there = all[to].own.block_of(section);
            int expected = 0;
            for (const contribution &each : all[to].own.contributions_to(there))
                if (each.source == int(rank)) {
                    const std::span<double> place = all[to].solver->place_of(each);
                    EXPECT_EQ(place.size(), given.size());
                    std::copy(given.begin(), given.end(), place.begin());
                    ++expected;
                }
            EXPECT_EQ(expected, 1);
            meet(to, there);
        }
        for (const index after : here.own.successors_of(block))
            meet(rank, std::size_t(after));
    }
    std::vector<double> x;
    std::size_t blocks = 0;
    for (const member &each : all) {
        blocks += each.own.blocks.size();
        const std::vector<double> part = each.solver->solution();
        x.insert(x.end(), part.begin(), part.end());
    }
    EXPECT_EQ(done, blocks);
    return x;
}

TEST(Blocks, SolveTheSystemInAnyOrder) {
    for (const triangle &of : systems()) {
        const std::vector<double> right = multiply(of, numbers(of.rows()));
        for (const int ranks : {1, 2, 3, 6}) {
            const verifier checks(of, right, ranks);
            for (const auto &[entries, in_block] :
                 {std::pair{1, 1}, {1, 50}, {13, 1}, {13, 60}, {200, 1}, {13, 1'000'000}}) {
                const auto first =
                    solve(of, right, ranks, entries, in_block, [](std::size_t) { return std::size_t{0}; });
                const auto last =
                    solve(of, right, ranks, entries, in_block, [](std::size_t count) { return count - 1; });
                std::uint32_t state = 7;
                const auto random = solve(of, right, ranks, entries, in_block, [&state](std::size_t count) {
                    state = state * 1664525 + 1013904223;
                    return (state >> 8) % count;
                });
                EXPECT_TRUE(checks.check(first).right()) << checks.check(first).text();
                EXPECT_EQ(first, last); // to the last bit
                EXPECT_EQ(first, random);
            }
        }
    }
}

TEST(Blocks, OfOneRankComputeAsTheSerialSolve) {
    for (const triangle &of : systems()) {
        const std::vector<double> right = multiply(of, numbers(of.rows()));
        const auto x = solve(of, right, 1, 20, 100, [](std::size_t) { return std::size_t{0}; });
        const verifier checks(of, right, 1);
        EXPECT_TRUE(std::ranges::equal(x, checks.serial_solution()));
    }
}

} // namespace
} // namespace sptrsv
