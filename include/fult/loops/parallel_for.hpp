/// @file
/// Loops without a result, over indices, elements, and grids of two and three dimensions.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>

#include <fult/detail/mistake.hpp>
#include <fult/loops/range.hpp>
#include <fult/loops/run_loop.hpp>

namespace fult {

/// Calls body(i) once for each index of first ... last - 1, or body(*i) for random-access iterators, in any
/// order and on several workers at a time. Returns when all calls have ended. Two integers of different types
/// are converted to their common type. The body may wait, yield, spawn, and run loops itself. Trivially
/// copyable bodies may be called through copies. If a body throws, no further call begins, and the first
/// exception is rethrown here after the running calls have ended. On a task: may suspend and resume on
/// another worker. On a foreign thread: blocks it, and a task runs the loop. Throws std::invalid_argument for
/// a negative grain and for a range that ends before it begins, and what spawn throws if no runtime is
/// running. An empty range does nothing.
template <class First, class Last, class Body>
requires detail::loop_range<First, Last> && std::invocable<Body &, detail::loop_element<First, Last>>
void parallel_for(First first, Last last, Body &&body, const loop_options &options = {}) {
    const std::size_t grain = detail::checked_grain("parallel_for", options);
    const detail::counted_range<First, Last> all("parallel_for", first, last);
    using plain = std::remove_reference_t<Body>;
    detail::run_loop(all.count, options, grain,
                     [range = all.range, &body](std::size_t begin, std::size_t end) {
                         detail::for_a_step<plain> call = body;
                         const auto behind = range.at(end);
                         for (auto i = range.at(begin); i != behind; ++i)
                             std::invoke(call, range.element(i));
                     });
}

/// @cond internal
template <class First, class Last, class Body>
requires detail::loop_range<First, Last> &&
    (!std::invocable<Body &, detail::loop_element<First, Last>>)void parallel_for(First, Last, Body &&,
                                                                                  const loop_options & = {}) {
    static_assert(detail::mistake<Body>,
                  "fult::parallel_for: the body must be callable with one index of the range, or with one "
                  "element of a range of iterators; parallel_for_ranges calls it with a begin and an end");
}
/// @endcond

/// The same, with body(b, e) called for non-empty pieces b ... e - 1 (or [b, e) of iterators) that together
/// are the range. The schedule determines their length; only the last piece of a part may be shorter than the
/// grain.
template <class First, class Last, class Body>
requires detail::loop_range<First, Last> &&
    std::invocable<Body &, detail::loop_position<First, Last>, detail::loop_position<First, Last>>
void parallel_for_ranges(First first, Last last, Body &&body, const loop_options &options = {}) {
    const std::size_t grain = detail::checked_grain("parallel_for_ranges", options);
    const detail::counted_range<First, Last> all("parallel_for_ranges", first, last);
    detail::run_loop(all.count, options, grain,
                     [range = all.range, &body](std::size_t begin, std::size_t end) {
                         std::invoke(body, range.at(begin), range.at(end));
                     });
}

/// @cond internal
template <class First, class Last, class Body>
requires detail::loop_range<First, Last> &&
    (!std::invocable<Body &, detail::loop_position<First, Last>,
                     detail::loop_position<First, Last>>)void parallel_for_ranges(First, Last, Body &&,
                                                                                  const loop_options & = {}) {
    static_assert(
        detail::mistake<Body>,
        "fult::parallel_for_ranges: the body must be callable with the begin and the end of a piece "
        "of the range");
}
/// @endcond

/// A grid, 0 ... n - 1 in each dimension.
template <std::size_t Dimensions> struct extent {
    std::ptrdiff_t size[Dimensions]; ///< number of points in each dimension; the last one varies fastest

    /// Sizes above the largest std::ptrdiff_t are clamped to it. The loop rejects negative sizes.
    template <detail::loop_index... N>
    requires(sizeof...(N) == Dimensions) explicit constexpr extent(N... sizes) noexcept
        : size{clamped(sizes)...} {}

  private:
    template <class N> static constexpr std::ptrdiff_t clamped(N n) noexcept {
        constexpr auto most = (std::numeric_limits<std::ptrdiff_t>::max)();
        if constexpr (std::is_unsigned_v<N> && sizeof(N) >= sizeof(most))
            return n > static_cast<N>(most) ? most : static_cast<std::ptrdiff_t>(n);
        else
            return static_cast<std::ptrdiff_t>(n);
    }
};
/// The number of sizes is the number of dimensions.
template <class... N> extent(N...) -> extent<sizeof...(N)>;

/// @cond internal
namespace detail {

template <std::size_t D> std::size_t checked_count(const char *call, const extent<D> &grid) {
    for (std::size_t d = 0; d < D; ++d)
        if (grid.size[d] < 0) [[unlikely]]
            bad_extent(call, d, grid.size[d]);
    std::ptrdiff_t product = 1;
    for (const std::ptrdiff_t n : grid.size)
        if (n == 0)
            return 0;
    for (const std::ptrdiff_t n : grid.size)
        if (__builtin_mul_overflow(product, n, &product)) [[unlikely]]
            extent_too_large(call);
    return static_cast<std::size_t>(product);
}

} // namespace detail
/// @endcond

/// Calls body(i, j) once for each point of extent{nx, ny}, with j varying fastest: a piece of the grid is a
/// run of whole and partial rows. Otherwise like the loop over a range. Also throws std::invalid_argument for
/// a negative extent, and if the number of points exceeds a std::ptrdiff_t.
template <class Body>
requires std::invocable<Body &, std::ptrdiff_t, std::ptrdiff_t>
void parallel_for(const extent<2> &grid, Body &&body, const loop_options &options = {}) {
    const std::size_t grain = detail::checked_grain("parallel_for", options);
    const std::size_t count = detail::checked_count("parallel_for", grid);
    using plain = std::remove_reference_t<Body>;
    detail::run_loop(count, options, grain, [ny = grid.size[1], &body](std::size_t begin, std::size_t end) {
        detail::for_a_step<plain> call = body;
        auto left = static_cast<std::ptrdiff_t>(end - begin);
        auto i = static_cast<std::ptrdiff_t>(begin) / ny;
        for (auto j = static_cast<std::ptrdiff_t>(begin) % ny; left > 0; j = 0, ++i) {
            const std::ptrdiff_t row_end = j + (std::min)(ny - j, left);
            left -= row_end - j;
            for (std::ptrdiff_t k = j; k < row_end; ++k)
                std::invoke(call, i, k);
        }
    });
}

/// Calls body(i, j, k) once for each point of extent{nx, ny, nz}, with k varying fastest. As above.
template <class Body>
requires std::invocable<Body &, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t>
void parallel_for(const extent<3> &grid, Body &&body, const loop_options &options = {}) {
    const std::size_t grain = detail::checked_grain("parallel_for", options);
    const std::size_t count = detail::checked_count("parallel_for", grid);
    using plain = std::remove_reference_t<Body>;
    const std::ptrdiff_t ny = grid.size[1], nz = grid.size[2];
    detail::run_loop(count, options, grain, [ny, nz, &body](std::size_t begin, std::size_t end) {
        detail::for_a_step<plain> call = body;
        auto left = static_cast<std::ptrdiff_t>(end - begin);
        const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(begin) / nz;
        std::ptrdiff_t i = row / ny, j = row % ny;
        for (auto k = static_cast<std::ptrdiff_t>(begin) % nz; left > 0; k = 0) {
            const std::ptrdiff_t row_end = k + (std::min)(nz - k, left);
            left -= row_end - k;
            for (std::ptrdiff_t at = k; at < row_end; ++at)
                std::invoke(call, i, j, at);
            if (++j == ny) {
                j = 0;
                ++i;
            }
        }
    });
}

/// @cond internal
template <std::size_t Dimensions, class Body>
requires(!(Dimensions == 2 && std::invocable<Body &, std::ptrdiff_t, std::ptrdiff_t>)&&!(
    Dimensions == 3 && std::invocable<Body &, std::ptrdiff_t, std::ptrdiff_t,
                                      std::ptrdiff_t>)) void parallel_for(const extent<Dimensions> &, Body &&,
                                                                          const loop_options & = {}) {
    static_assert(
        detail::mistake<Body>,
        "fult::parallel_for: a grid has two or three dimensions, and the body must be callable with "
        "one index for each");
}
/// @endcond

} // namespace fult
