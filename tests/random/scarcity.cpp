#include "scarcity.hpp"

#include "tests/support/failing.hpp"

namespace random_programs {

using fult::testing::failure_plan;
using fult::testing::mmap_plan;
using fult::testing::thread_plan;

void refuse_now_and_then(std::uint64_t seed, unsigned maps, unsigned threads) noexcept {
    mmap_plan.arm_now_and_then(seed, maps,
                               24); // more than the stacks' pool tries in smaller and smaller pieces
    thread_plan.arm_now_and_then(~seed, threads, 3);
}

long refusals() noexcept { return mmap_plan.failed + thread_plan.failed; }

spared::spared() noexcept : before_(std::exchange(failure_plan::spared, true)) {}
spared::~spared() { failure_plan::spared = before_; }

} // namespace random_programs
