#include "level_schedule.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "levels.hpp"

namespace sptrsv {
namespace {

// Own numbers that others need: (level, rank, row). Numbers of others that own rows need, and the first level
// that does: (level, rank, row) -> level.
struct needs {
    std::set<std::tuple<index, int, index>> of_others;
    std::map<std::tuple<index, int, index>, index> own;
};

class scheduler {
  public:
    scheduler(const triangle &of, int ranks, int rank)
        : of_(of), levels_(row_levels(of)), stripes_(row_stripes(of, ranks)) {
        made_.first = stripes_[std::size_t(rank)];
        made_.last = stripes_[std::size_t(rank) + 1];
    }

    level_schedule run() {
        order_rows();
        find_needs();
        plan_departures();
        plan_arrivals();
        take_entries();
        return std::move(made_);
    }

  private:
    int owner(index row) const {
        return int(std::upper_bound(stripes_.begin(), stripes_.end(), row) - stripes_.begin()) - 1;
    }
    index level(index row) const { return levels_[std::size_t(row)]; }
    bool is_own(index row) const { return row >= made_.first && row < made_.last; }

    void order_rows() {
        for (index row = made_.first; row < made_.last; ++row)
            made_.rows.push_back(row);
        std::stable_sort(made_.rows.begin(), made_.rows.end(),
                         [this](index a, index b) { return level(a) < level(b); });
        const index count = *std::max_element(levels_.begin(), levels_.end()) + 1;
        for (index each = 0; each <= count; ++each) {
            const auto begin =
                std::lower_bound(made_.rows.begin(), made_.rows.end(), each,
                                 [this](index row, index wanted) { return level(row) < wanted; });
            made_.level_starts.push_back(std::size_t(begin - made_.rows.begin()));
        }
        position_.resize(std::size_t(made_.last - made_.first));
        for (std::size_t k = 0; k < made_.rows.size(); ++k)
            position_[std::size_t(made_.rows[k] - made_.first)] = k;
    }

    void find_needs() {
        for (index row = made_.first; row < of_.rows(); ++row)
            for (const index column : of_.columns_of(row)) {
                if (is_own(column) && !is_own(row))
                    needs_.of_others.insert({level(column), owner(row), column});
                if (is_own(row) && !is_own(column)) {
                    const auto [found, is_new] =
                        needs_.own.try_emplace({level(column), owner(column), column}, level(row));
                    found->second = std::min(found->second, level(row));
                }
            }
    }

    void plan_departures() {
        for (const auto &[from, to, row] : needs_.of_others) {
            if (made_.departures.empty() || made_.departures.back().level != from ||
                made_.departures.back().other != to)
                made_.departures.push_back({to, from, made_.sent.size(), made_.sent.size()});
            made_.sent.push_back(position_[std::size_t(row - made_.first)]);
            ++made_.departures.back().last;
        }
    }

    void plan_arrivals() {
        made_.numbers = made_.rows.size();
        std::vector<index> needed; // the first level that needs each message
        for (const auto &[number, first_needed] : needs_.own) {
            const auto &[from, source, row] = number;
            if (made_.arrivals.empty() || made_.arrivals.back().level != from ||
                made_.arrivals.back().other != source) {
                made_.arrivals.push_back({source, from, made_.numbers, made_.numbers});
                needed.push_back(first_needed);
            }
            needed.back() = std::min(needed.back(), first_needed);
            ++made_.arrivals.back().last;
            others_[row] = made_.numbers++;
        }
        order_arrivals(needed);
    }

    void order_arrivals(const std::vector<index> &needed) {
        std::vector<std::size_t> order;
        for (std::size_t k = 0; k < needed.size(); ++k)
            order.push_back(k);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return needed[a] < needed[b]; });
        std::vector<level_message> sorted;
        std::vector<index> levels;
        for (const std::size_t k : order) {
            sorted.push_back(made_.arrivals[k]);
            levels.push_back(needed[k]);
        }
        made_.arrivals = sorted;
        for (std::size_t each = 0; each + 1 < made_.level_starts.size(); ++each)
            made_.arrivals_before.push_back(
                std::size_t(std::upper_bound(levels.begin(), levels.end(), index(each)) - levels.begin()));
    }

    void take_entries() {
        made_.starts.push_back(0);
        for (const index row : made_.rows) {
            const auto columns = of_.columns_of(row);
            const auto values = of_.values_of(row);
            for (std::size_t k = 0; k < columns.size(); ++k) {
                made_.columns.push_back(index(is_own(columns[k])
                                                  ? position_[std::size_t(columns[k] - made_.first)]
                                                  : others_.at(columns[k])));
                made_.values.push_back(values[k]);
            }
            made_.starts.push_back(std::int64_t(made_.columns.size()));
            made_.inverse.push_back(1 / of_.diagonal[std::size_t(row)]);
        }
    }

    const triangle &of_;
    std::vector<index> levels_, stripes_;
    level_schedule made_;
    std::vector<std::size_t> position_;   // of own rows in x
    std::map<index, std::size_t> others_; // positions of others' rows in x
    needs needs_;
};

} // namespace

level_schedule make_level_schedule(const triangle &of, int ranks, int rank) {
    return scheduler(of, ranks, rank).run();
}

std::vector<index> row_stripes(const triangle &of, int ranks) {
    std::vector<index> begins;
    for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t before = of.entries() / ranks * rank; // entries, diagonal included
        index row = begins.empty() ? 0 : begins.back();
        while (row < of.rows() && of.starts[std::size_t(row)] + row < before)
            ++row;
        begins.push_back(row);
    }
    begins.push_back(of.rows());
    return begins;
}

} // namespace sptrsv
