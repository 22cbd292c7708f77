// Tasks of a caller that reaches no scheduling point before they have run: only other workers can run them.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace fult::testing {

// spawn_one(body) spawns one of the tasks.
template <class SpawnOne> void compute_while_others_run(int tasks, const SpawnOne &spawn_one) {
    const int here = this_task::worker(); // until the tasks are joined
    std::atomic<int> ran{0};
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < tasks; ++i)
        all.push_back(spawn_one([&ran, here] {
            EXPECT_NE(this_task::worker(), here);
            ran.fetch_add(1);
        }));
    spin_until([&] { return ran.load() == tasks; });
    join_all(all);
}

// Each generation is spawned by tasks that others have taken.
inline void compute_while_others_run_generations() {
    constexpr int each = 20;
    std::atomic<int> ran{0};
    spawn([&] {
        for (int i = 0; i < each; ++i)
            spawn([&] {
                for (int k = 0; k < each; ++k)
                    spawn([&] { ran.fetch_add(1); }).detach();
                ran.fetch_add(1);
            }).detach();
    }).detach();
    spin_until([&] { return ran.load() >= each + each * each; });
    EXPECT_EQ(ran.load(), each + each * each);
}

} // namespace fult::testing
