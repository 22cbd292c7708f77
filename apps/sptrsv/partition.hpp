// Who computes what: a rank has a stripe of contiguous columns; the rows of a stripe's diagonal block are cut
// into sections. Both have similar numbers of entries (PPL, section 4.3).
#pragma once

#include <cstdint>
#include <vector>

#include "triangle.hpp"

namespace sptrsv {

struct partition {
    std::vector<index> stripes;       // the first column of each rank, then the number of columns
    std::vector<index> sections;      // the first row of each section, then the number of rows
    std::vector<index> first_section; // of each rank, then the number of sections
    std::vector<index> section_of;    // each row
    std::vector<int> owner_of;        // each section

    int ranks() const { return int(stripes.size()) - 1; }
    index section_count() const { return index(sections.size()) - 1; }
    int owner(index row) const { return owner_of[std::size_t(section_of[std::size_t(row)])]; }
};

// Sections have about so many entries, all columns included: half as many to half as many again, but a row at
// least, and the last of a stripe may have fewer. Ranks beyond the number of rows have empty stripes.
//
// Stripes and sections begin, near to where their weights would be equal, at the row whose nearest dependency
// is the farthest: where a line of a grid begins, not behind that. Otherwise each section would depend on the
// one before.
partition divide(const triangle &of, int ranks, std::int64_t entries_in_section);

} // namespace sptrsv
