// How a loop is divided among the workers.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include <fult/detail/platform.hpp>

namespace fult {

// Who runs which part of a loop; docs/loops.md says which one is good for what. Source: the idea of `lazy` is
// lazy binary splitting (A. Tzannes and others, PPoPP 2010); that it looks at the request itself is ours.
enum class schedule {
    lazy, // the caller goes through the range; half of what is left becomes a task when a worker asks for it
    guided, // the workers take pieces that shrink with what is left, from one counter
    fixed,  // pieces are dealt out beforehand, the same ones to the same workers each time
};

// The last argument of parallel_for, parallel_for_ranges and parallel_reduce.
struct loop_options {
    schedule how = schedule::lazy; // who runs which part
    // Iterations. lazy: no part is smaller, and a part is worth a task (0: judged by the time that iterations
    // take). guided: no piece is smaller (0: 1). fixed: the length of the pieces, dealt out in turn (0: one
    // piece a worker). Negative: std::invalid_argument.
    std::ptrdiff_t grain = 0;
    // For parallel_reduce: the same grouping and order of combinations whatever the workers do and however
    // many they are, so that rounding is the same too.
    bool ordered = false;
};

namespace detail {

[[noreturn]] FULT_COLD inline void bad_grain(const char *call, std::ptrdiff_t grain) {
    throw std::invalid_argument(std::string("fult: ") + call + ": the grain is " + std::to_string(grain) +
                                "; give the least number of iterations of a part, or 0 to have it chosen");
}

[[noreturn]] FULT_COLD inline void reversed_range(const char *call) {
    throw std::invalid_argument(std::string("fult: ") + call +
                                ": the range ends before it begins; give the first index or iterator first, "
                                "and one behind the last");
}

[[noreturn]] FULT_COLD inline void negative_as_unsigned(const char *call) {
    throw std::invalid_argument(std::string("fult: ") + call +
                                ": a negative index beside an unsigned one; give both as signed");
}

[[noreturn]] FULT_COLD inline void bad_extent(const char *call, std::size_t dimension, std::ptrdiff_t value) {
    throw std::invalid_argument(std::string("fult: ") + call + ": extent " + std::to_string(dimension) +
                                " is " + std::to_string(value) + "; give 0 or more");
}

[[noreturn]] FULT_COLD inline void extent_too_large(const char *call) {
    throw std::invalid_argument(std::string("fult: ") + call +
                                ": the product of the extents is above the largest std::ptrdiff_t; nest a "
                                "loop over one of them in a loop over the others");
}

inline std::size_t checked_grain(const char *call, const loop_options &options) {
    if (options.grain < 0) [[unlikely]]
        bad_grain(call, options.grain);
    return static_cast<std::size_t>(options.grain);
}

} // namespace detail
} // namespace fult
