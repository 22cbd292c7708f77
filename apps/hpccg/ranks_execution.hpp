// A grid whose rows are divided among ranks, in whole blocks: sums are made of the same blocks as in one
// process, and have the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <fult/comm.hpp>

#include "fult_execution.hpp"
#include "grid.hpp"

namespace hpccg {

// What a rank keeps of the grid.
inline part part_of_rank(const grid &g, int rank, int ranks) {
    const std::int64_t rows = g.rows(), blocks = block_count(rows);
    const auto begin = [&](int r) { return std::min(blocks * r / ranks * rows_in_block, rows); };
    part here{begin(rank), begin(rank + 1)};
    if (here.rows() != 0) {
        // The neighbours of a point are no further away.
        const std::int64_t reach = g.x.points() * g.y.points() + g.x.points() + 1;
        here.before = std::min(reach, here.first);
        here.after = std::min(reach, rows - here.last);
    }
    return here;
}

// The loops of this rank as tasks, and what it needs of the others by messages: a task for each neighbour.
class ranks_execution : public fult_execution {
  public:
    ranks_execution(fult::comm::endpoint &among, const grid &g)
        : among_(among), here_(part_of_rank(g, among.rank(), among.size())), blocks_(block_count(g.rows())) {
        for (int rank = 0; rank < among.size(); ++rank)
            if (rank != among.rank())
                note_neighbour(rank, part_of_rank(g, rank, among.size()));
    }

    const part &rows() const { return here_; }

    // Fills in the numbers beside this rank's own. May suspend.
    void bring_outside(double *x) const {
        std::vector<fult::handle<void>> others;
        for (const neighbour &each : neighbours_)
            others.push_back(fult::spawn([this, x, &each] {
                among_.sendrecv(x + each.give, each.given * sizeof(double), each.rank, 0, x + each.take,
                                each.taken * sizeof(double), each.rank, 0);
            }));
        fult::join_all(others);
    }

    // Every rank brings its blocks, and adds all of them in their order. May suspend.
    double add_up(const double *sums, std::int64_t blocks) const {
        std::vector<double> all(std::size_t(blocks_), 0.0);
        std::copy_n(sums, blocks, all.begin() + here_.first / rows_in_block);
        fult::comm::allreduce(among_, all, all, std::plus<>{}); // all but one are zero
        double total = 0;
        for (const double each : all)
            total += each;
        return total;
    }

  private:
    struct neighbour {
        int rank;
        std::int64_t give; // the first number of this rank's that it needs
        std::size_t given; // how many
        std::int64_t take; // where its own come
        std::size_t taken;
    };

    void note_neighbour(int rank, const part &there) {
        const bool above = there.first >= here_.last;
        // What each of the two needs of the other, as rows of the grid.
        const auto needed = [](const part &by, const part &of, bool after) {
            const std::int64_t begin = after ? by.last : by.first - by.before;
            const std::int64_t end = after ? by.last + by.after : by.first;
            const std::int64_t first = std::max(begin, of.first);
            return std::pair(first, std::size_t(std::max<std::int64_t>(0, std::min(end, of.last) - first)));
        };
        if (here_.rows() == 0 || there.rows() == 0)
            return;
        const auto [take, taken] = needed(here_, there, above);
        const auto [give, given] = needed(there, here_, !above);
        if (taken != 0 || given != 0)
            neighbours_.push_back(
                {rank, here_.number(give), given, taken != 0 ? here_.number(take) : 0, taken});
    }

    fult::comm::endpoint &among_;
    part here_;
    std::int64_t blocks_; // of all ranks
    std::vector<neighbour> neighbours_;
};

} // namespace hpccg
