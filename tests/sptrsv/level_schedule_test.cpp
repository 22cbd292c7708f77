// The conventional schedule: all ranks in one thread, level by level.
#include <algorithm>
#include <map>
#include <utility>

#include "apps/sptrsv/level_schedule.hpp"
#include "apps/sptrsv/verify.hpp"
#include "support.hpp"

namespace sptrsv {
namespace {
using testing::numbers;
using testing::systems;

TEST(RowStripes, HaveSimilarEntries) {
    EXPECT_EQ(row_stripes(laplacian({100, 80}), 2), (std::vector<index>{0, 4017, 8000}));
    EXPECT_EQ(row_stripes(testing::small(), 1), (std::vector<index>{0, 4}));
    for (const triangle &of : systems()) {
        const std::vector<index> found = row_stripes(of, 9);
        EXPECT_EQ(found.size(), 10u);
        EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
        EXPECT_EQ(found.back(), of.rows());
    }
}

// Numbers arrive when they are first needed, or before.
std::vector<double> solve(const triangle &of, const std::vector<double> &right, int ranks) {
    std::vector<level_schedule> all;
    std::vector<std::vector<double>> x;
    for (int rank = 0; rank < ranks; ++rank) {
        all.push_back(make_level_schedule(of, ranks, rank));
        x.emplace_back(all.back().numbers, 0.0);
    }
    std::map<std::tuple<int, int, index>, std::vector<double>> sent; // from, to, level
    const std::size_t levels = all[0].arrivals_before.size();
    for (std::size_t level = 0; level < levels; ++level)
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const level_schedule &own = all[rank];
            std::vector<double> &numbers = x[rank];
            for (std::size_t k = level == 0 ? 0 : own.arrivals_before[level - 1];
                 k < own.arrivals_before[level]; ++k) {
                const level_message &each = own.arrivals[k];
                const auto found = sent.extract({each.other, int(rank), each.level});
                EXPECT_FALSE(found.empty());
                if (!found.empty()) {
                    EXPECT_EQ(found.mapped().size(), each.last - each.first);
                    std::ranges::copy(found.mapped(), numbers.begin() + std::ptrdiff_t(each.first));
                }
            }
            for (std::size_t row = own.level_starts[level]; row < own.level_starts[level + 1]; ++row) {
                double sum = right[std::size_t(own.rows[row])];
                for (auto at = std::size_t(own.starts[row]); at < std::size_t(own.starts[row + 1]); ++at)
                    sum -= own.values[at] * numbers[std::size_t(own.columns[at])];
                numbers[row] = sum * own.inverse[row];
            }
            for (const level_message &each : own.departures)
                if (each.level == index(level))
                    for (std::size_t k = each.first; k < each.last; ++k)
                        sent[{int(rank), each.other, each.level}].push_back(numbers[own.sent[k]]);
        }
    EXPECT_TRUE(sent.empty());
    std::vector<double> result(right.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (std::size_t k = 0; k < all[rank].rows.size(); ++k)
            result[std::size_t(all[rank].rows[k])] = x[rank][k];
    return result;
}

TEST(LevelSchedule, ComputesAsTheSerialSolve) {
    for (const triangle &of : systems()) {
        const std::vector<double> right = multiply(of, numbers(of.rows()));
        const verifier checks(of, right, 1);
        for (const int ranks : {1, 2, 3, 8})
            EXPECT_TRUE(std::ranges::equal(solve(of, right, ranks), checks.serial_solution())) << ranks;
    }
}

} // namespace
} // namespace sptrsv
