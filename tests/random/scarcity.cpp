#include "scarcity.hpp"

#include <cstdlib>
#include <new>

#include "tests/support/failing.hpp"

namespace {
thread_local constinit bool next_fails = false;

void *take(std::size_t size, std::size_t alignment) noexcept {
    if (std::exchange(next_fails, false))
        return nullptr;
    return alignment <= alignof(std::max_align_t)
               ? std::malloc(size)
               : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void *take_or_throw(std::size_t size, std::size_t alignment) {
    if (void *at = take(size, alignment))
        return at;
    throw std::bad_alloc();
}
// Inlined, the compiler sees that free() ends what operator new made, and warns.
[[gnu::noinline]] void give(void *at) noexcept { std::free(at); }
} // namespace

void *operator new(std::size_t size) { return take_or_throw(size, 1); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return take(size, 1); }
void *operator new(std::size_t size, std::align_val_t a) {
    return take_or_throw(size, static_cast<std::size_t>(a));
}
void *operator new(std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
    return take(size, static_cast<std::size_t>(a));
}
void operator delete(void *at) noexcept { give(at); }
void operator delete(void *at, std::size_t) noexcept { give(at); }
void operator delete(void *at, std::align_val_t) noexcept { give(at); }
void operator delete(void *at, std::size_t, std::align_val_t) noexcept { give(at); }

namespace random_programs {

using fult::testing::failure_plan;
using fult::testing::mmap_plan;
using fult::testing::thread_plan;

void refuse_now_and_then(std::uint64_t seed, unsigned maps, unsigned threads, unsigned guards) noexcept {
    mmap_plan.arm_now_and_then(seed, maps,
                               24); // more than the stacks' pool tries in smaller and smaller pieces
    thread_plan.arm_now_and_then(~seed, threads, 3);
    fult::testing::guard_plan.arm_now_and_then(seed ^ 0x60a4d, guards, 3);
}

refused_allocation::refused_allocation() noexcept { next_fails = true; }
refused_allocation::~refused_allocation() { next_fails = false; }

long refusals() noexcept { return mmap_plan.failed + thread_plan.failed; }

spared::spared() noexcept : before_(std::exchange(failure_plan::spared, true)) {}
spared::~spared() { failure_plan::spared = before_; }

} // namespace random_programs
