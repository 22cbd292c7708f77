// Workers without tasks use no processor time.
#include <atomic>
#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <thread>

#include <fult/fult.hpp>

#include "tests/support/asleep.hpp"
#include "tests/support/support.hpp"

namespace {

double processor_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TEST(idle_timed, workers_sleep) {
    if (fult::testing::under_valgrind() || fult::testing::sanitized)
        GTEST_SKIP() << "the tools' own threads use time";
    const fult::runtime running(fult::testing::workers(4));
    fult::spawn([] {}).join();
    const fult::task_id me = fult::this_task::id();
    double used = 0;
    std::atomic<bool> over{false};
    std::thread foreign([&] {
        fult::testing::spin_until_asleep(4);
        used = processor_seconds();
        std::this_thread::sleep_for(std::chrono::milliseconds(500)); // the time that is measured
        used = processor_seconds() - used;
        over = true;
        signal(me);
    });
    while (!over.load())
        fult::this_task::wait();
    foreign.join();
    EXPECT_LT(used, 0.02) << "seconds of processor time in half a second of idling";
}

} // namespace
