#include "stripe.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace sptrsv {
namespace {

class builder {
  public:
    builder(const triangle &of, const partition &among, int rank, std::int64_t entries_in_block)
        : of_(of), among_(among), entries_in_block_(entries_in_block) {
        made_.first = among.stripes[std::size_t(rank)];
        made_.last = among.stripes[std::size_t(rank) + 1];
        made_.first_section = among.first_section[std::size_t(rank)];
        own_sections_ = std::size_t(among.first_section[std::size_t(rank) + 1] - made_.first_section);
        levels_.resize(made_.own_rows());
    }

    stripe run() {
        find_drafts();
        connect_drafts();
        order_drafts();
        join_drafts();
        connect_blocks();
        for (std::size_t k = 0; k < made_.own_blocks; ++k)
            order_rows(k);
        made_.successor_starts.push_back(0);
        for (const draft &each : joined_)
            take_block(each);
        take_entries();
        expect_contributions();
        return std::move(made_);
    }

  private:
    // The rows of a section, before it is known which block has them; then a block.
    struct draft {
        index section;
        std::vector<index> rows;
        std::vector<std::size_t> predecessors, successors; // ascending
        std::int64_t entries = 0;
        bool receives = false;  // contributions
        bool late = false;      // it, or one that comes before it, receives contributions
        bool gives = false;     // a block that contributes needs it
        bool begins_run = true; // of drafts of which each completes the requirements of the next
        bool closed = false;    // a block: it requires nothing
        bool mixed = false;     // a block: it has several runs
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
    bool is_own(std::size_t draft) const { return draft < own_sections_; }

    // By section: those of the own ones come first.
    void find_drafts() {
        for (index row = made_.first; row < of_.rows(); ++row) {
            const part own = own_part(row);
            if (row >= made_.last && own.begin == own.end)
                continue;
            const index section = among_.section_of[std::size_t(row)];
            if (drafts_.empty() || drafts_.back().section != section)
                drafts_.push_back({.section = section, .rows = {}, .predecessors = {}, .successors = {}});
            draft &into = drafts_.back();
            into.rows.push_back(row);
            into.entries += std::int64_t(own.end - own.begin) + 1;
            into.receives |= row < made_.last && own.begin != 0;
        }
    }

    void connect_drafts() {
        std::vector<std::size_t> seen_by(own_sections_, drafts_.size());
        for (std::size_t k = 0; k < drafts_.size(); ++k)
            for (const index row : drafts_[k].rows) {
                const part own = own_part(row);
                for (std::size_t at = own.begin; at < own.end; ++at) {
                    const index section = among_.section_of[std::size_t(of_.columns_of(row)[at])];
                    const auto other = std::size_t(section - made_.first_section);
                    if (other != k && seen_by[other] != k) {
                        seen_by[other] = k;
                        drafts_[other].successors.push_back(k);
                        drafts_[other].gives |= !is_own(k);
                        drafts_[k].predecessors.push_back(other);
                    }
                }
            }
    }

    // The order in which one worker computes them, if nothing has to arrive: own ones, then the others.
    void order_drafts() {
        std::vector<std::int32_t> left;
        std::queue<std::size_t> ready;
        for (std::size_t k = 0; k < drafts_.size(); ++k) {
            left.push_back(std::int32_t(drafts_[k].predecessors.size()));
            if (left.back() == 0)
                ready.push(k);
        }
        for (; !ready.empty(); ready.pop()) {
            for (std::size_t next = ready.front(), none = drafts_.size(); next != none;) {
                order_.push_back(std::exchange(next, none));
                draft &current = drafts_[order_.back()];
                current.late |= current.receives;
                for (const std::size_t after : current.successors) {
                    drafts_[after].late |= current.late;
                    if (--left[after] == 0)
                        if (const std::size_t other = std::exchange(next, after); other != none)
                            ready.push(other);
                }
                if (next != none)
                    drafts_[next].begins_run = false;
            }
        }
        std::stable_partition(order_.begin(), order_.end(), [this](std::size_t k) { return is_own(k); });
    }

    // A block has drafts that follow one another in a run, or that require nothing from outside of it, if no
    // rank waits longer for that: what requires nothing of other ranks does not wait for them, and what they
    // require is the last of its block. Blocks cannot wait for each other in a circle: each requires only
    // what comes before it in the order.
    bool continues(const draft &after, const draft &block) const {
        if (after.receives || after.late != block.late || block.gives ||
            block.entries + after.entries > entries_in_block_)
            return false;
        if (after.begins_run)
            return block.closed && after.predecessors.empty() && !after.gives;
        return !(after.gives && block.mixed);
    }

    void join_drafts() {
        block_of_.resize(drafts_.size());
        for (const std::size_t k : order_) {
            if (is_own(k) && !joined_.empty() && continues(drafts_[k], joined_.back()))
                extend_block(joined_.back(), drafts_[k]);
            else
                begin_block(drafts_[k]);
            block_of_[k] = joined_.size() - 1;
            if (is_own(k))
                made_.own_blocks = joined_.size();
        }
        made_.own_block_of.assign(block_of_.begin(), block_of_.begin() + std::ptrdiff_t(own_sections_));
    }
    void begin_block(const draft &with) {
        draft &block = joined_.emplace_back(with);
        block.closed = with.predecessors.empty() && !with.receives;
        block.predecessors.clear();
        block.successors.clear();
    }
    void extend_block(draft &block, const draft &by) const {
        block.rows.insert(block.rows.end(), by.rows.begin(), by.rows.end());
        block.entries += by.entries;
        block.gives = by.gives;
        block.mixed |= by.begins_run;
        block.closed &= std::ranges::all_of(
            by.predecessors, [this](std::size_t k) { return block_of_[k] == joined_.size() - 1; });
    }

    void connect_blocks() {
        for (std::size_t k = 0; k < own_sections_; ++k)
            for (const std::size_t after : drafts_[k].successors)
                if (block_of_[after] != block_of_[k])
                    joined_[block_of_[k]].successors.push_back(block_of_[after]);
        for (draft &each : joined_) {
            std::ranges::sort(each.successors, {},
                              [this](std::size_t block) { return joined_[block].section; });
            const auto repeated = std::ranges::unique(each.successors);
            each.successors.erase(repeated.begin(), repeated.end());
            for (const std::size_t after : each.successors)
                joined_[after].predecessors.push_back(std::size_t(&each - joined_.data()));
        }
    }

    // By levels within the block.
    void order_rows(std::size_t block) {
        std::vector<index> &rows = joined_[block].rows;
        std::sort(rows.begin(), rows.end());
        for (const index row : rows) {
            index &level = levels_[std::size_t(row - made_.first)];
            const part own = own_part(row);
            for (std::size_t at = own.begin; at < own.end; ++at) {
                const index column = of_.columns_of(row)[at];
                if (block_with(column) == block)
                    level = std::max(level, levels_[std::size_t(column - made_.first)] + 1);
            }
        }
        std::stable_sort(rows.begin(), rows.end(), [this](index a, index b) {
            return levels_[std::size_t(a - made_.first)] < levels_[std::size_t(b - made_.first)];
        });
    }
    std::size_t block_with(index own_row) const {
        return block_of_[std::size_t(among_.section_of[std::size_t(own_row)] - made_.first_section)];
    }

    void take_block(const draft &from) {
        made_.blocks.push_back({from.section, made_.rows.size(), made_.rows.size() + from.rows.size()});
        made_.rows.insert(made_.rows.end(), from.rows.begin(), from.rows.end());
        made_.requirements.push_back(std::int32_t(from.predecessors.size()));
        for (const std::size_t after : from.successors)
            made_.successors.push_back(index(after));
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
    std::int64_t entries_in_block_;
    std::size_t own_sections_ = 0;
    std::vector<draft> drafts_;         // by section
    std::vector<std::size_t> order_;    // drafts
    std::vector<draft> joined_;         // blocks
    std::vector<std::size_t> block_of_; // each draft
    std::vector<index> levels_;         // of each own row within its block
};

} // namespace

stripe make_stripe(const triangle &of, const partition &among, int rank, std::int64_t entries_in_block) {
    return builder(of, among, rank, entries_in_block).run();
}

} // namespace sptrsv
