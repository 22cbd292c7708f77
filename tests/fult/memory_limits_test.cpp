// Programs that lock their memory, and programs whose address space is limited. Each runs in a child of its
// own.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <vector>

#include <fult/fult.hpp>

#include "tests/support/in_child.hpp"
#include "tests/support/own_memory.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::runtime;
using fult::spawn;
using fult::testing::limit_address_space_to;
using fult::testing::mib;
using fult::testing::status_kib;
using fult::testing::workers;

constexpr int not_allowed = 77;

class memory_limits : public ::testing::Test {
  protected:
    void SetUp() override {
        if (fult::testing::sanitized || fult::testing::under_valgrind() || fult::testing::emulated())
            GTEST_SKIP() << "the tool needs memory and addresses of its own";
    }
    // Calls body in a child, which ends with its result as status: 0 is right.
    static void in_child(const std::function<int()> &body) {
        const auto child = fult::testing::run_in_child([&] { ::_exit(body()); });
        ASSERT_TRUE(child);
        if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == not_allowed)
            GTEST_SKIP() << "not permitted here";
        EXPECT_TRUE(child->was_silent()) << "status " << child->status << ": " << child->said;
    }
};

// True once a suspended task and as many unstarted ones have run.
bool run_tasks(std::size_t count) {
    std::vector<handle<std::size_t>> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([i] {
            if (i == 0)
                fult::this_task::yield();
            return i % 2;
        }));
    std::size_t sum = 0;
    for (auto &each : all)
        sum += each.join();
    return sum == count / 2;
}

// Of a stack of the system for each worker's thread, of ours, and of what the program had. Whatever is
// reserved would add hundreds.
std::size_t most_resident(std::size_t before_kib) {
    rlimit stack{};
    ::getrlimit(RLIMIT_STACK, &stack);
    const std::size_t of_thread = stack.rlim_cur == RLIM_INFINITY ? 8 * mib : stack.rlim_cur;
    return before_kib + (of_thread >> 10) + (16 << 10);
}

int stays_small(bool locked_before) {
    if (locked_before && ::mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return not_allowed;
    const std::size_t before = status_kib("VmSize:"); // all of it may become resident
    const runtime running(workers(2));
    if (!locked_before && ::mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return not_allowed;
    const bool ran = run_tasks(100);
    const std::size_t now = status_kib("VmRSS:");
    if (ran && now <= most_resident(before))
        return 0;
    std::fprintf(stderr, "%zu KiB are resident, and %zu were mapped before\n", now, before);
    return 1;
}

TEST_F(memory_limits, locked_memory_is_only_what_is_used) {
    in_child([] { return stays_small(true); });
}
TEST_F(memory_limits, memory_locked_later_is_only_what_is_used) {
    in_child([] { return stays_small(false); });
}

TEST_F(memory_limits, two_workers_in_a_gibibyte_of_addresses) {
    in_child([] {
        if (!limit_address_space_to(1024 * mib))
            return not_allowed;
        const runtime running(workers(2));
        return run_tasks(1'000'000) && run_tasks(1000) ? 0 : 1;
    });
}

// One after another, as many as leave no addresses behind.
TEST_F(memory_limits, limited_addresses_come_back) {
    in_child([] {
        if (!limit_address_space_to(512 * mib))
            return not_allowed;
        for (int i = 0; i < 20; ++i) {
            const runtime running(workers(2));
            if (!run_tasks(50'000))
                return 1;
        }
        return 0;
    });
}

// The limit ends the growth of the table: an error reports it, nothing is lost, and what is free is used
// again.
TEST_F(memory_limits, a_table_that_meets_the_limit_is_full) {
    in_child([] {
        ::mallopt(M_TRIM_THRESHOLD, 1 << 30); // some of the heap is left for errors
        std::free(std::malloc(64 * 1024));
        std::vector<handle<int>> all;
        all.reserve(4'000'000);
        const std::string expected = "no memory or addresses for more";
        if (!limit_address_space_to(64 * mib))
            return not_allowed;
        const runtime running(workers(1));
        for (int round = 0; round < 3; ++round) {
            std::string said;
            while (said.empty() && all.size() < all.capacity())
                try {
                    all.push_back(spawn([] { return 1; }));
                } catch (const std::system_error &error) {
                    said = error.what();
                }
            int sum = 0;
            for (auto &each : all)
                sum += each.join();
            if (said.find(expected) == std::string::npos || sum != static_cast<int>(all.size()) ||
                sum < 100'000)
                return 1 + round;
            all.clear();
        }
        return 0;
    });
}

} // namespace
