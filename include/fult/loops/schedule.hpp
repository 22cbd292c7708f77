/// @file
/// How a loop is divided among the workers.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/platform.hpp>

namespace fult {

/// The schedule of a loop; docs/loops.md describes the choice. Source: `lazy` is based on lazy binary
/// splitting (A. Tzannes and others, PPoPP 2010), which checks for an empty queue instead.
enum class schedule {
    lazy,   ///< the caller runs the range; half of the rest becomes a task when a worker requests work
    guided, ///< workers take shrinking pieces from a shared counter
    fixed,  ///< pieces are assigned in advance, always the same ones to the same worker
};

/// The last argument of parallel_for, parallel_for_ranges and parallel_reduce.
struct loop_options {
    fult::schedule schedule = fult::schedule::lazy; ///< which worker runs which part
    /// Number of iterations. lazy: the minimum length of a part that is worth a task (0: based on the
    /// measured time of an iteration). guided: the minimum length of a piece (0: 1). fixed: the length of the
    /// pieces, assigned in turn (0: one piece per worker). Negative: std::invalid_argument.
    std::ptrdiff_t grain = 0;
    /// For parallel_reduce: the same grouping and order of combinations for any number of workers and in each
    /// run, so that rounding is the same, too.
    bool ordered = false;
};

/// @cond internal
namespace detail {

[[noreturn]] FULT_COLD inline void bad_grain(const char *call, std::ptrdiff_t grain) {
    raise(std::invalid_argument(
        std::string("fult: ") + call + ": the grain is " + std::to_string(grain) +
        "; pass the minimum number of iterations of a part, or 0 for an automatic choice"));
}

[[noreturn]] FULT_COLD inline void reversed_range(const char *call) {
    raise(std::invalid_argument(std::string("fult: ") + call +
                                ": the range ends before it begins; pass the first index or "
                                "iterator, then the one past the last"));
}

[[noreturn]] FULT_COLD inline void negative_as_unsigned(const char *call) {
    raise(std::invalid_argument(std::string("fult: ") + call +
                                ": a negative index together with an unsigned one; pass both as signed"));
}

[[noreturn]] FULT_COLD inline void bad_extent(const char *call, std::size_t dimension, std::ptrdiff_t value) {
    raise(std::invalid_argument(std::string("fult: ") + call + ": extent " + std::to_string(dimension) +
                                " is " + std::to_string(value) + "; pass 0 or more"));
}

[[noreturn]] FULT_COLD inline void extent_too_large(const char *call) {
    raise(std::invalid_argument(std::string("fult: ") + call +
                                ": the product of the extents is above the largest std::ptrdiff_t; nest a "
                                "loop over one of them in a loop over the others"));
}

inline std::size_t checked_grain(const char *call, const loop_options &options) {
    if (options.grain < 0) [[unlikely]]
        bad_grain(call, options.grain);
    return static_cast<std::size_t>(options.grain);
}

} // namespace detail
/// @endcond
} // namespace fult
