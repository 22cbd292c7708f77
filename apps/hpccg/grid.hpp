// The system of a grid: each point depends on itself and on its neighbours, 27 of them inside.
#pragma once

#include <cstdint>
#include <string>

#include "problem.hpp"

namespace hpccg {

// Points along one direction, and the neighbours that they have there, themselves included.
class direction {
  public:
    explicit direction(std::int64_t points) : points_(points) {}
    std::int64_t first(std::int64_t at) const { return at == 0 ? 0 : -1; }
    std::int64_t last(std::int64_t at) const { return at + 1 == points_ ? 0 : 1; }
    std::int64_t neighbours(std::int64_t at) const { return last(at) - first(at) + 1; }
    // The sum of neighbours(i) for all i before this one.
    std::int64_t before(std::int64_t at) const {
        const std::int64_t inner = 3 * at - 1; // the first has one less
        return at == 0 ? 0 : at == points_ ? inner - 1 : inner;
    }
    std::int64_t all() const { return before(points_); }
    std::int64_t points() const { return points_; }

  private:
    std::int64_t points_;
};

class grid {
  public:
    // Throws a failure where one is below 1 or where the points are more than 32-bit column numbers can name.
    grid(std::int64_t nx, std::int64_t ny, std::int64_t nz);
    std::int64_t rows() const { return x.points() * y.points() * z.points(); }
    std::int64_t entries() const { return x.all() * y.all() * z.all(); }
    std::uint64_t bytes() const { return bytes_needed(std::uint64_t(rows()), std::uint64_t(entries())); }
    std::string name() const;

    // Entries of all rows before that of this point.
    std::int64_t entries_before(std::int64_t ix, std::int64_t iy, std::int64_t iz) const {
        const std::int64_t in_row = y.neighbours(iy) * x.before(ix) + y.before(iy) * x.all();
        return z.before(iz) * x.all() * y.all() + z.neighbours(iz) * in_row;
    }

    direction x, y, z;
};

// Rows of a grid that are kept here, and those beside them that they depend on: these have their numbers
// after the rows' own, first those before.
struct part {
    std::int64_t first, last;           // rows of the grid; last is not of them
    std::int64_t before = 0, after = 0; // how many beside them

    std::int64_t rows() const { return last - first; }
    std::int64_t number(std::int64_t row) const {
        return row < first  ? rows() + row - (first - before)
               : row < last ? row - first
                            : rows() + before + row - last;
    }
};

// 27 on the diagonal, -1 for each neighbour; the right-hand side is that of a solution of ones. The execution
// writes each block where it will be used.
template <class Execution> problem make_problem(const Execution &execution, const grid &g, const part &here) {
    const std::int64_t rows = here.rows();
    const auto entries_before = [&](std::int64_t row) {
        const std::int64_t nx = g.x.points(), ny = g.y.points();
        return row == g.rows() ? g.entries() : g.entries_before(row % nx, row / nx % ny, row / (nx * ny));
    };
    const std::int64_t none = entries_before(here.first), entries = entries_before(here.last) - none;
    require_bytes("the grid " + g.name(), bytes_needed(std::uint64_t(rows), std::uint64_t(entries)),
                  available_bytes());
    problem made;
    made.nx = g.x.points(), made.ny = g.y.points(), made.nz = g.z.points();
    made.outside = here.before + here.after;
    sparse_matrix &matrix = made.matrix;
    matrix.row_start = array<std::int64_t>(std::size_t(rows) + 1);
    matrix.columns = array<std::int32_t>(std::size_t(entries));
    matrix.values = array<double>(std::size_t(entries));
    made.guess = array<double>(std::size_t(rows));
    made.right = array<double>(std::size_t(rows));
    made.solution = array<double>(std::size_t(rows));
    for_row_ranges(execution, rows, [&](std::int64_t begin_row, std::int64_t end_row) {
        const std::int64_t nx = made.nx, ny = made.ny;
        for (std::int64_t row = here.first + begin_row; row < here.first + end_row; ++row) {
            const std::int64_t ix = row % nx, iy = row / nx % ny, iz = row / (nx * ny);
            const std::int64_t begin = g.entries_before(ix, iy, iz) - none;
            std::int64_t at = begin;
            for (std::int64_t dz = g.z.first(iz); dz <= g.z.last(iz); ++dz)
                for (std::int64_t dy = g.y.first(iy); dy <= g.y.last(iy); ++dy)
                    for (std::int64_t dx = g.x.first(ix); dx <= g.x.last(ix); ++dx, ++at) {
                        const std::int64_t column = row + (dz * ny + dy) * nx + dx;
                        matrix.columns[std::size_t(at)] = std::int32_t(here.number(column));
                        matrix.values[std::size_t(at)] = column == row ? 27.0 : -1.0;
                    }
            const std::size_t i = std::size_t(row - here.first);
            matrix.row_start[i] = begin;
            made.guess[i] = 0.0;
            made.right[i] = 27.0 - double(at - begin - 1);
            made.solution[i] = 1.0;
        }
    });
    matrix.row_start[std::size_t(rows)] = entries;
    return made;
}

template <class Execution> problem make_problem(const Execution &execution, const grid &g) {
    return make_problem(execution, g, part{0, g.rows()});
}

} // namespace hpccg
