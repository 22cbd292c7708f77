// Then: a negative result, or one of 64 bits, came out of a join as garbage.
#include <cstdint>
#include <gtest/gtest.h>

#include <fult/fult.h>

#include "tests/support/support.hpp"

namespace {

using fult::spawn;

template <class T> void comes_through(T value) {
    EXPECT_EQ(spawn([value] { return value; }).join(), value);
    auto started = spawn([value] {
        fult::this_task::yield();
        return value;
    });
    fult::this_task::yield();
    EXPECT_EQ(started.join(), value);
    fult::handle<T> untyped = spawn([value] { return value; });
    EXPECT_EQ(untyped.join(), value);
}

TEST(result_width, in_cpp) {
    const fult::runtime running(fult::testing::workers(2));
    comes_through(-1);
    comes_through(INT64_MIN);
    comes_through(INT64_MAX);
    comes_through(UINT64_MAX);
    comes_through(std::uint64_t{0xfedc'ba98'7654'3210});
    comes_through(static_cast<signed char>(-5));
    comes_through(-0.5L);
}

TEST(result_width, in_c) {
    const fult::runtime running(fult::testing::workers(2));
    for (const std::uintptr_t bits :
         {UINTPTR_MAX, std::uintptr_t{0x8000'0000'0000'0000}, std::uintptr_t{0xffff'ffff}}) {
        fult_task_t t;
        void *result = nullptr;
        ASSERT_EQ(fult_spawn(
                      &t, [](void *p) { return p; }, reinterpret_cast<void *>(bits)),
                  FULT_SUCCESS);
        ASSERT_EQ(fult_join(t, &result), FULT_SUCCESS);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(result), bits);
    }
}

} // namespace
