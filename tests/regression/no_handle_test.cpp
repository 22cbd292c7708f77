// Then: a task spawned without a place for its handle crashed.
#include <atomic>
#include <gtest/gtest.h>

#include <fult/fult.h>

#include "tests/support/support.hpp"

namespace {

void *count_up(void *counter) {
    static_cast<std::atomic<int> *>(counter)->fetch_add(1);
    return nullptr;
}

TEST(no_handle, in_c) {
    std::atomic<int> ran{0};
    fult_config config = FULT_CONFIG_INIT;
    config.workers = 2;
    config.bind = 0;
    ASSERT_EQ(fult_init(&config), FULT_SUCCESS);
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(fult_spawn(nullptr, count_up, &ran), FULT_SUCCESS);
    ASSERT_EQ(fult_finalize(), FULT_SUCCESS);
    EXPECT_EQ(ran.load(), 1000);
}

TEST(no_handle, in_cpp) {
    std::atomic<int> ran{0};
    {
        const fult::runtime running(fult::testing::workers(2));
        for (int i = 0; i < 1000; ++i)
            (void)fult::spawn([&] { ran.fetch_add(1); });
    }
    EXPECT_EQ(ran.load(), 1000);
}

} // namespace
