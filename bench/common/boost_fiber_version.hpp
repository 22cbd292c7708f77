// Boost.Fiber on one thread: its default scheduler does not share fibers between threads.
#pragma once

#include <memory>

#include <boost/fiber/pooled_fixedsize_stack.hpp>

#include "common/kernel.hpp"

namespace bench {

// Stacks that are used again, of the size that Argobots takes. By default each fiber maps and unmaps one, ten
// times slower.
inline auto &fiber_stacks() {
    static boost::fibers::pooled_fixedsize_stack stacks(16 * 1024);
    return stacks;
}

inline const version boost_fiber_version{"boost_fiber", 1,
                                         [](unsigned, const std::function<void()> &body) { body(); }};
} // namespace bench
