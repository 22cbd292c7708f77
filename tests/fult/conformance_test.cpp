// One program, each way of running it.
#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

struct mode {
    std::string name;
    fult::options opts;
    friend void PrintTo(const mode &m, std::ostream *out) {
        *out << m.name;
    } // GoogleTest would print padding, too
};

std::vector<mode> modes() {
    std::vector<mode> all;
    const auto add = [&](const std::string &name, unsigned workers, auto change) {
        mode m{name, fult::testing::workers(workers)};
        change(m.opts);
        // QEMU never gives back its books on a home's pages: half a gigabyte a mode with two workers.
        // Memcheck takes minutes for all.
        const bool is_slow = fult::testing::emulated() || fult::testing::under_valgrind();
        if (!is_slow || name == "default_on_1" || name == "default_on_2" || name == "no_private_words_on_2" ||
            name == "few_slots" ||
            (!fult::testing::emulated() &&
             (name == "breadth_first_on_2" || name == "guard_mprotect" || name == "no_stacks_kept")))
            all.push_back(m);
    };
    for (const unsigned w : {1u, 2u, 8u}) {
        const std::string n = "_on_" + std::to_string(w);
        add("default" + n, w, [](fult::options &) {});
        add("no_stealing" + n, w, [](fult::options &o) { o.stealing = false; });
        add("no_private_words" + n, w, [](fult::options &o) { o.private_words = false; });
        add("breadth_first" + n, w, [](fult::options &o) { o.order = fult::spawn_order::breadth_first; });
        add("breadth_first_no_private_words" + n, w, [](fult::options &o) {
            o.order = fult::spawn_order::breadth_first;
            o.private_words = false;
        });
        add("no_spin" + n, w, [](fult::options &o) { o.idle_spin = 0; });
    }
    add("bound", 2, [](fult::options &o) { o.bind = fult::bind_mode::on; });
    add("guard_madvise", 2, [](fult::options &o) { o.guard = fult::guard_mode::madvise; });
    add("guard_mprotect", 2, [](fult::options &o) { o.guard = fult::guard_mode::mprotect; });
    add("no_guard", 2, [](fult::options &o) { o.guard = fult::guard_mode::none; });
    add("no_stacks_kept", 2, [](fult::options &o) { o.stacks_kept = 0; });
    add("few_slots", 2, [](fult::options &o) { o.max_tasks = 4096; });
    return all;
}

class conformance : public ::testing::TestWithParam<mode> {
  protected:
    ~conformance() override {
        running.reset();
        EXPECT_EQ(ran_at_end.load(), expected_at_end);
    }

    std::atomic<int> ran_at_end{0}; // detached tasks for which the end of the runtime waits
    int expected_at_end = 0;
    std::optional<fult::runtime> running{GetParam().opts};
};
INSTANTIATE_TEST_SUITE_P(modes, conformance, ::testing::ValuesIn(modes()),
                         [](const auto &info) { return info.param.name; });

long ternary_tree(int depth) {
    if (depth == 0)
        return 1;
    if (depth % 3 == 0)
        this_task::yield();
    auto left = spawn([=] { return ternary_tree(depth - 1); });
    handle<long> middle = spawn([=] { return ternary_tree(depth - 1); });
    const long right = ternary_tree(depth - 1);
    return left.join() + middle.join() + right;
}

TEST_P(conformance, a_tree_of_tasks) {
    EXPECT_EQ(ternary_tree(fult::testing::under_valgrind() ? 4 : 7),
              fult::testing::under_valgrind() ? 81 : 2187);
}

TEST_P(conformance, more_living_tasks_than_a_line_of_slots) {
    const bool is_slow = fult::testing::under_valgrind() || fult::testing::sanitized;
    // A line is 512 slots. Where each task costs much more, so many are blocked in the modes that differ in
    // it.
    const std::string &name = GetParam().name;
    const bool differs =
        name == "default_on_1" || (name.find("level") != name.npos && fult::worker_count() == 1);
    const int count = !is_slow ? 2500 : differs ? 520 : 40;
    std::atomic<int> blocked{0}, woken{0};
    std::atomic<bool> go{false};
    std::vector<handle<void>> all;
    for (int i = 0; i < count; ++i)
        all.push_back(spawn([&] {
            blocked.fetch_add(1);
            while (!go.load())
                this_task::wait();
            woken.fetch_add(1);
        }));
    while (blocked.load() != count)
        this_task::yield();
    go = true;
    for (const auto &each : all)
        signal(each.id());
    join_all(all);
    EXPECT_EQ(woken.load(), count);
}

TEST_P(conformance, tasks_for_each_worker) {
    const int count = fult::worker_count();
    std::vector<handle<void>> all;
    std::atomic<unsigned> wrong{0};
    for (int i = 0; i < 20 * count; ++i) {
        all.push_back(fult::spawn_pinned(i % count, [&, w = i % count] {
            wrong += this_task::worker() != w ? 1 : 0;
            this_task::yield();
            wrong += this_task::worker() != w ? 1 : 0;
        }));
        all.push_back(fult::spawn_on(i % count, [&] { this_task::yield(); }));
    }
    join_all(all);
    EXPECT_EQ(wrong.load(), 0u);
}

TEST_P(conformance, foreign_threads) {
    std::atomic<int> sum{0};
    std::atomic<bool> over{false};
    std::thread foreign([&] {
        std::vector<handle<int>> all;
        for (int i = 0; i < 600; ++i)
            all.push_back(spawn([i] {
                if (i % 7 == 0)
                    this_task::yield();
                return i;
            }));
        for (auto &each : all)
            sum += each.join();
        over = true;
    });
    while (!over.load())
        this_task::yield();
    foreign.join();
    EXPECT_EQ(sum.load(), 599 * 600 / 2);
}

// They are left to the end of the runtime, which waits for them.
TEST_P(conformance, detached_tasks_of_all_kinds) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 600; ++i) {
        spawn([&] { ran.fetch_add(1); }).detach();
        fult::spawn_on(fult::worker_count() - 1, [&] {
            this_task::yield();
            ran.fetch_add(1);
        }).detach();
    }
    std::thread([&] { spawn([&] { ran.fetch_add(1); }).detach(); }).join();
    while (ran.load() < 1201)
        this_task::yield();
    EXPECT_EQ(ran.load(), 1201);
    expected_at_end = 1;
    std::thread([this] { spawn([this] { ran_at_end.fetch_add(1); }).detach(); }).join();
}

} // namespace
