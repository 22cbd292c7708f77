// What a rank has of the matrix: the entries of its columns, in blocks, one for each section with entries
// there. A block is computed as a whole, when all that it requires is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "partition.hpp"

namespace sptrsv {

// What another rank, whose columns are further left, adds to the rows of a section: numbers for consecutive
// rows.
struct contribution {
    int source;
    index section;
    index first, last; // rows: the first, and one behind the last
};

// The rows of a section within the columns of a rank. Of the rank's own sections, blocks have all rows; they
// solve. The others' have the rows with entries; they compute what their rank contributes to the section.
struct block {
    index section;
    std::size_t first, last; // positions
};

// Rows have positions: those of own blocks come first, and of these the blocks that are computed early. One
// worker then reads memory from the begin to the end, in whichever order it goes through the matrix. Within a
// block that solves, rows are in the order of their levels there: the processor computes several at once.
struct stripe {
    index first = 0, last = 0;    // columns
    std::vector<index> rows;      // at each position; in blocks that do not solve they ascend
    std::vector<index> positions; // of own rows
    // Compressed rows, without the diagonal. Columns are positions of own rows.
    std::vector<std::int64_t> starts;
    std::vector<index> columns;
    std::vector<double> values;
    std::vector<double> inverse; // of the diagonal, of own rows

    std::vector<block> blocks; // own_blocks solve
    std::size_t own_blocks = 0;
    index first_section = 0;         // of the own ones
    std::vector<index> own_block_of; // each own section
    // Block k waits for requirements[k] others: own blocks that solve for what its rows need, and
    // contributions. When it is done, the blocks successors_of(k) have one less to wait for.
    std::vector<std::int32_t> requirements;
    std::vector<std::size_t> successor_starts;
    std::vector<index> successors; // in the order of their sections

    std::vector<contribution> contributions;      // by own block, then by source
    std::vector<std::size_t> contribution_starts; // of each own block

    bool solves(std::size_t block) const { return block < own_blocks; }
    std::size_t own_rows() const { return std::size_t(last - first); }
    // The block that solves for the rows of an own section.
    std::size_t block_of(index section) const {
        return std::size_t(own_block_of[std::size_t(section - first_section)]);
    }
    std::span<const index> successors_of(std::size_t block) const {
        return {successors.data() + successor_starts[block],
                successor_starts[block + 1] - successor_starts[block]};
    }
    std::span<const contribution> contributions_to(std::size_t block) const {
        return {contributions.data() + contribution_starts[block],
                contribution_starts[block + 1] - contribution_starts[block]};
    }
    // The rows that a block contributes to, which no block of this rank solves for.
    contribution given_by(std::size_t block, int rank) const {
        const auto &of = blocks[block];
        return {rank, of.section, rows[of.first], rows[of.last - 1] + 1};
    }
};

// Blocks have sections that follow one another, with at most this number of entries within the stripe; one
// that has more is a block alone.
stripe make_stripe(const triangle &of, const partition &among, int rank, std::int64_t entries_in_block);

} // namespace sptrsv
