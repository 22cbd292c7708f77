// The tallies that all others are compared with: one particle after the other, each from its birth to its
// end, in one thread with all tables.
#pragma once

#include <vector>

#include "cross_sections.hpp"
#include "tally.hpp"

namespace monte_carlo {

using all_tables = std::vector<std::vector<cross_section>>; // one a band

all_tables make_all_tables(const problem &of);

tally track_histories(const problem &of, const all_tables &tables);

} // namespace monte_carlo
