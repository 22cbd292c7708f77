#include "partition.hpp"

#include <algorithm>
#include <cstdlib>

namespace sptrsv {

namespace {

// Rows and their weights.
class cutter {
  public:
    cutter(const triangle &of, const std::vector<std::int64_t> &weights) : of_(of), before_{0} {
        before_.reserve(weights.size() + 1);
        for (const std::int64_t each : weights)
            before_.push_back(before_.back() + each);
    }

    // The weight of the rows before this one.
    std::int64_t before(index row) const { return before_[std::size_t(row)]; }
    std::int64_t all() const { return before_.back(); }

    // The row behind `first` to cut at, so that the weight before it is `ideal`, or differs by `slack` at
    // most. At most `end`.
    index cut(index first, index end, std::int64_t ideal, std::int64_t slack) const {
        const index low = std::max(first + 1, row_at(ideal - slack)),
                    high = std::min(end, row_at(ideal + slack));
        index best = std::min(end, std::max(low, row_at(ideal)));
        for (index row = low; row <= high && row < of_.rows(); ++row)
            if (distance(row) > distance(best) ||
                (distance(row) == distance(best) && far(row, ideal) < far(best, ideal)))
                best = row;
        return best;
    }

  private:
    // The first row with at least this weight before it.
    index row_at(std::int64_t weight) const {
        return index(std::lower_bound(before_.begin(), before_.end(), weight) - before_.begin());
    }
    std::int64_t far(index row, std::int64_t ideal) const { return std::abs(before(row) - ideal); }
    // From a row to the nearest one that it depends on.
    index distance(index row) const {
        if (row == of_.rows())
            return 0;
        const auto columns = of_.columns_of(row);
        return columns.empty() ? of_.rows() : row - columns.back();
    }

    const triangle &of_;
    std::vector<std::int64_t> before_;
};

std::vector<index> cut_stripes(const triangle &of, int ranks) {
    std::vector<std::int64_t> weights(std::size_t(of.rows()), 1);
    for (const index column : of.columns)
        ++weights[std::size_t(column)];
    const cutter by(of, weights);
    const std::int64_t share = by.all() / ranks;
    std::vector<index> begins{0};
    for (int rank = 1; rank < ranks; ++rank) {
        const index before = begins.back();
        begins.push_back(
            before == of.rows() ? before : by.cut(before, of.rows(), by.all() * rank / ranks, share / 32));
    }
    begins.push_back(of.rows());
    return begins;
}

void cut_sections(partition &made, const cutter &by, int rank, std::int64_t entries) {
    const index last = made.stripes[std::size_t(rank) + 1];
    made.first_section.push_back(index(made.sections.size()));
    for (index row = made.stripes[std::size_t(rank)]; row < last;) {
        made.sections.push_back(row);
        made.owner_of.push_back(rank);
        row = by.cut(row, last, by.before(row) + entries, entries / 2);
    }
}

} // namespace

partition divide(const triangle &of, int ranks, std::int64_t entries_in_section) {
    std::vector<std::int64_t> weights;
    for (index row = 0; row < of.rows(); ++row)
        weights.push_back(of.entries_of(row));
    const cutter by(of, weights);
    partition made;
    made.stripes = cut_stripes(of, ranks);
    for (int rank = 0; rank < ranks; ++rank)
        cut_sections(made, by, rank, entries_in_section);
    made.first_section.push_back(index(made.sections.size()));
    made.sections.push_back(of.rows());
    made.section_of.resize(weights.size());
    for (std::size_t section = 0; section + 1 < made.sections.size(); ++section)
        std::fill(made.section_of.begin() + made.sections[section],
                  made.section_of.begin() + made.sections[section + 1], index(section));
    return made;
}

} // namespace sptrsv
