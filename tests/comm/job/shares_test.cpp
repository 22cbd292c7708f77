// Ranks that have to share processors: how that is detected, and that a rank that polls without result yields
// its own.
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/detail/service.hpp>

#include "comm/job/shares.hpp"
#include "tests/comm/conformance/ranks.hpp"

namespace {
thread_local unsigned given_up = 0;
std::atomic<bool> others_compute{false}; // a thread that yields waits for their time slices
std::atomic<bool> has_slept{false};
unsigned given_up_before = 0; // the first sleep
} // namespace

// In place of libc's, for the library too.
extern "C" int sched_yield() noexcept {
    ++given_up;
    if (others_compute.load(std::memory_order_relaxed))
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // time: a lower bound
    return static_cast<int>(::syscall(SYS_sched_yield));
}

// The sleep of a worker that watches devices.
extern "C" int ppoll(pollfd *descriptors, nfds_t count, const timespec *limit, const sigset_t *) {
    if (others_compute.load(std::memory_order_relaxed) && !has_slept) {
        given_up_before = given_up;
        has_slept = true;
    }
    timespec left{};
    if (limit)
        left = *limit;
    return static_cast<int>(::syscall(SYS_ppoll, descriptors, count, limit ? &left : nullptr, nullptr, 0));
}

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

bool short_of(const std::vector<std::string> &shares, std::size_t own = 0) {
    return fult::comm::detail::more_workers_than_processors(shares, own);
}

TEST(shares, count_the_workers_where_this_rank_may_run) {
    EXPECT_FALSE(short_of({"1:0,", "1:1,"}));
    EXPECT_FALSE(short_of({"1:0,1,", "1:0,1,"}));
    EXPECT_TRUE(short_of({"1:0,1,", "1:0,1,", "1:0,1,"}));
    EXPECT_TRUE(short_of({"2:0,1,", "1:1,"}, 1));
    EXPECT_TRUE(short_of({"3:0,1,"}));
    EXPECT_FALSE(short_of({"1:0,", "9:1,2,"})) << "those are elsewhere";
    EXPECT_TRUE(short_of({"1:0,", "9:1,2,"}, 1));
}

TEST(shares, that_make_no_sense_count_for_nothing) {
    for (const char *text :
         {"", ":", "1", "x:1,", "1:x,", "1:1", "99999999999999999999:1,", "1:99999999999,"})
        EXPECT_FALSE(short_of({"1:0,1,", text})) << text;
}

TEST(shares, of_this_process_can_be_read) {
    fult::options o = as_many_workers_as_asked_for();
    o.workers = 1;
    const runtime running(o);
    const std::string own = fult::comm::detail::own_share();
    EXPECT_EQ(own.substr(0, 2), "1:");
    EXPECT_FALSE(short_of({own}));
    EXPECT_TRUE(short_of(std::vector<std::string>(CPU_SETSIZE + 1, own)));
}

// No other one hides what this one does.
fult::options one_worker() {
    fult::options o = as_many_workers_as_asked_for();
    o.workers = 1;
    return o;
}

struct shared_processors : ::testing::TestWithParam<bool> {
    static void expect_given_up(unsigned looks) {
        if (GetParam())
            EXPECT_GE(given_up, looks / 32);
        else
            EXPECT_EQ(given_up, 0U);
    }
};

TEST_P(shared_processors, are_given_up_by_loops_that_poll) {
    constexpr unsigned looks = 1000;
    const runtime running(one_worker());
    world_settings alone;
    alone.ranks = 1;
    alone.options.progress = progress_policy::workers;
    fult::detail::share_processors(GetParam());
    run_ranks(alone, [&](party &p, world &) {
        given_up = 0;
        for (unsigned i = 0; i < looks; ++i)
            this_task::yield();
        expect_given_up(looks);
        int in = 0;
        request r = p.world.irecv(std::span(&in, 1), 0, 1);
        given_up = 0;
        for (unsigned i = 0; i < looks; ++i)
            ASSERT_FALSE(r.test());
        expect_given_up(looks);
        given_up = 0;
        for (unsigned i = 0; i < looks; ++i)
            ASSERT_FALSE(p.world.try_probe(0, 2));
        expect_given_up(looks);
        p.world.send(1, 0, 1);
        r.wait();
    });
    fult::detail::share_processors(false);
}

// One look without result is enough then, not sixteen: the sender wakes a sleeper.
TEST(processes_that_compute, leave_the_processor_to_a_rank_that_sleeps) {
    const runtime running(one_worker());
    world_settings alone;
    alone.ranks = 1;
    alone.options.progress = progress_policy::workers;
    fult::detail::share_processors(true);
    run_ranks(alone, [&](party &p, world &) {
        int in = 0;
        request r = p.world.irecv(std::span(&in, 1), 0, 1);
        given_up = 0;
        others_compute = true;
        std::jthread sender([&] {
            while (!has_slept)
                std::this_thread::yield();
            p.world.send(1, 0, 1);
        });
        r.wait();
        EXPECT_LT(given_up_before, 4U);
    });
    others_compute = false;
    fult::detail::share_processors(false);
}

INSTANTIATE_TEST_SUITE_P(with, shared_processors, ::testing::Bool(),
                         [](const auto &p) { return std::string(p.param ? "others" : "alone"); });

} // namespace
