#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

#include "fult/base/start_affinity.hpp"

namespace {

using namespace fult::detail;

cpu_set_t allowed_now() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

TEST(start_affinity, is_that_of_the_process) {
    const cpu_set_t now = allowed_now();
    EXPECT_TRUE(CPU_EQUAL(&processors_at_start(), &now));
    EXPECT_GT(CPU_COUNT(&now), 0);
}

TEST(start_affinity, is_restored_for_a_bound_thread) {
    std::thread([] {
        cpu_set_t one;
        CPU_ZERO(&one);
        for (unsigned i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
            if (CPU_ISSET(i, &processors_at_start()))
                CPU_SET(i, &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        run_on_processors_at_start();
        const cpu_set_t now = allowed_now();
        EXPECT_TRUE(CPU_EQUAL(&processors_at_start(), &now));
    }).join();
}

} // namespace
