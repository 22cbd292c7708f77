// What a process of the conventional program has: contiguous rows, in the order of their levels, and which
// numbers of others it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "triangle.hpp"

namespace sptrsv {

// Numbers of one level that travel from a rank to another, in one message.
struct level_message {
    int other;   // the rank that it goes to, or comes from
    index level; // of the numbers
    // Of a message that leaves: positions first ... last - 1 in `sent`. Of one that arrives: positions in x.
    std::size_t first, last;
};

struct level_schedule {
    index first = 0, last = 0; // rows
    // The own rows by level. x has their numbers in this order, and behind them those of other ranks.
    std::vector<index> rows;
    std::vector<std::size_t> level_starts; // in rows; of each level of the system, then the end
    std::vector<std::int64_t> starts;      // of each row in columns and values
    std::vector<index> columns;            // positions in x
    std::vector<double> values;
    std::vector<double> inverse; // of the diagonal

    std::vector<std::size_t> sent;         // positions in x of the numbers that leave, by message
    std::vector<level_message> departures; // by level, then rank
    // In the order in which they are needed. Before level l, as many as arrivals_before[l] have been
    // received.
    std::vector<level_message> arrivals;
    std::vector<std::size_t> arrivals_before;
    std::size_t numbers = 0; // in x
};

// Ranks have rows with about the same number of entries.
level_schedule make_level_schedule(const triangle &of, int ranks, int rank);

// The first row of each rank, then the number of rows.
std::vector<index> row_stripes(const triangle &of, int ranks);

} // namespace sptrsv
