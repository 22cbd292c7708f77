#include "stripe.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace sptrsv {
namespace {

class builder {
  public:
    builder(const triangle &of, const partition &among, int rank) : of_(of), among_(among) {
        made_.first = among.stripes[std::size_t(rank)];
        made_.last = among.stripes[std::size_t(rank) + 1];
        made_.first_section = among.first_section[std::size_t(rank)];
        made_.own_blocks = std::size_t(among.first_section[std::size_t(rank) + 1] - made_.first_section);
    }

    stripe run() {
        find_drafts();
        connect_drafts();
        order_drafts();
        for (std::size_t k = 0; k < made_.own_blocks; ++k)
            order_rows(drafts_[k]);
        for (const std::size_t draft : order_)
            take_block(drafts_[draft]);
        take_entries();
        expect_contributions();
        return std::move(made_);
    }

  private:
    // A block before it has a number.
    struct draft {
        index section;
        std::vector<index> rows;
        std::vector<std::size_t> successors; // drafts; ascending
        std::int32_t predecessors = 0;
    };

    // The part of a row within the stripe: positions in its columns.
    struct part {
        std::size_t begin, end;
    };
    part own_part(index row) const {
        const auto columns = of_.columns_of(row);
        const auto begin = std::lower_bound(columns.begin(), columns.end(), made_.first);
        const auto end = std::lower_bound(begin, columns.end(), made_.last);
        return {std::size_t(begin - columns.begin()), std::size_t(end - columns.begin())};
    }
    bool is_own(std::size_t draft) const { return draft < made_.own_blocks; }

    // By section: those of the own ones come first.
    void find_drafts() {
        for (index row = made_.first; row < of_.rows(); ++row) {
            const part own = own_part(row);
            if (row >= made_.last && own.begin == own.end)
                continue;
            const index section = among_.section_of[std::size_t(row)];
            if (drafts_.empty() || drafts_.back().section != section)
                drafts_.push_back({section, {}, {}, 0});
            drafts_.back().rows.push_back(row);
        }
    }

    void connect_drafts() {
        std::vector<std::size_t> seen_by(made_.own_blocks, drafts_.size());
        for (std::size_t k = 0; k < drafts_.size(); ++k)
            for (const index row : drafts_[k].rows) {
                const part own = own_part(row);
                for (std::size_t at = own.begin; at < own.end; ++at) {
                    const index section = among_.section_of[std::size_t(of_.columns_of(row)[at])];
                    const auto other = std::size_t(section - made_.first_section);
                    if (other != k && seen_by[other] != k) {
                        seen_by[other] = k;
                        drafts_[other].successors.push_back(k);
                        ++drafts_[k].predecessors;
                    }
                }
            }
    }

    // The order in which one worker computes them, if nothing has to arrive: own ones, then the others.
    void order_drafts() {
        std::vector<std::int32_t> left;
        std::queue<std::size_t> ready;
        for (std::size_t k = 0; k < drafts_.size(); ++k) {
            left.push_back(drafts_[k].predecessors);
            if (left.back() == 0)
                ready.push(k);
        }
        for (; !ready.empty(); ready.pop()) {
            for (std::size_t next = ready.front(), none = drafts_.size(); next != none;) {
                const std::size_t current = std::exchange(next, none);
                order_.push_back(current);
                for (const std::size_t after : drafts_[current].successors)
                    if (--left[after] == 0)
                        if (const std::size_t other = std::exchange(next, after); other != none)
                            ready.push(other);
            }
        }
        std::stable_partition(order_.begin(), order_.end(), [this](std::size_t k) { return is_own(k); });
        number_.resize(order_.size());
        for (std::size_t k = 0; k < order_.size(); ++k)
            number_[order_[k]] = index(k);
        made_.own_block_of.assign(number_.begin(), number_.begin() + std::ptrdiff_t(made_.own_blocks));
        made_.successor_starts.push_back(0);
    }

    // By levels within the section.
    void order_rows(draft &of) const {
        const index first = of.rows.front();
        std::vector<index> levels(of.rows.size(), 0);
        for (const index row : of.rows)
            for (const index column : of_.columns_of(row))
                if (column >= first) {
                    index &level = levels[std::size_t(row - first)];
                    level = std::max(level, levels[std::size_t(column - first)] + 1);
                }
        std::stable_sort(of.rows.begin(), of.rows.end(), [&](index a, index b) {
            return levels[std::size_t(a - first)] < levels[std::size_t(b - first)];
        });
    }

    void take_block(const draft &from) {
        made_.blocks.push_back({from.section, made_.rows.size(), made_.rows.size() + from.rows.size()});
        made_.rows.insert(made_.rows.end(), from.rows.begin(), from.rows.end());
        made_.requirements.push_back(from.predecessors);
        for (const std::size_t after : from.successors)
            made_.successors.push_back(number_[after]);
        made_.successor_starts.push_back(made_.successors.size());
    }

    void take_entries() {
        made_.positions.resize(made_.own_rows());
        for (std::size_t k = 0; k < made_.own_rows(); ++k) {
            made_.positions[std::size_t(made_.rows[k] - made_.first)] = index(k);
            made_.inverse.push_back(1 / of_.diagonal[std::size_t(made_.rows[k])]);
        }
        made_.starts.push_back(0);
        for (const index row : made_.rows) {
            const part own = own_part(row);
            for (std::size_t at = own.begin; at < own.end; ++at) {
                made_.columns.push_back(made_.positions[std::size_t(of_.columns_of(row)[at] - made_.first)]);
                made_.values.push_back(of_.values_of(row)[at]);
            }
            made_.starts.push_back(std::int64_t(made_.columns.size()));
        }
    }

    void expect_contributions() {
        made_.contribution_starts.push_back(0);
        for (std::size_t k = 0; k < made_.own_blocks; ++k) {
            const index section = made_.blocks[k].section;
            std::map<int, contribution> from; // by source
            for (index row = among_.sections[std::size_t(section)];
                 row < among_.sections[std::size_t(section) + 1]; ++row)
                for (const index column : of_.columns_of(row)) {
                    if (column >= made_.first)
                        break;
                    const int source = among_.owner(column);
                    from.try_emplace(source, contribution{source, section, row, row}).first->second.last =
                        row + 1;
                }
            for (const auto &[source, each] : from)
                made_.contributions.push_back(each);
            made_.contribution_starts.push_back(made_.contributions.size());
            made_.requirements[k] += std::int32_t(from.size());
        }
    }

    const triangle &of_;
    const partition &among_;
    stripe made_;
    std::vector<draft> drafts_;
    std::vector<std::size_t> order_; // drafts
    std::vector<index> number_;      // of each draft, as a block
};

} // namespace

stripe make_stripe(const triangle &of, const partition &among, int rank) {
    return builder(of, among, rank).run();
}

} // namespace sptrsv
