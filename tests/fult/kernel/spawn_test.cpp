#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::testing::spin_until;
namespace this_task = fult::this_task;

// The ways in which a child is run: in its parent's join; on another worker, which took it from a busy
// parent; or on a stack of its own.
enum class way { inline_join, stolen, own_stack };

std::string print(const ::testing::TestParamInfo<way> &info) {
    return info.param == way::inline_join ? "inline_join"
           : info.param == way::stolen    ? "stolen"
                                          : "own_stack";
}

class spawn_test : public ::testing::TestWithParam<way> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam() == way::stolen ? 2 : 1)};

    // The first action of a child, and that of its parent before the join.
    static void begin() {
        if (GetParam() == way::own_stack)
            this_task::yield();
    }
    template <class H> static auto finish(H handle) {
        if (GetParam() == way::stolen)
            spin_until([&] { return handle.done(); });
        else if (GetParam() == way::own_stack)
            this_task::yield(); // starts the child
        return handle.join();
    }
};
INSTANTIATE_TEST_SUITE_P(ways, spawn_test, ::testing::Values(way::inline_join, way::stolen, way::own_stack),
                         print);

TEST_P(spawn_test, nothing) {
    bool ran = false;
    finish(spawn([&] {
        begin();
        ran = true;
    }));
    EXPECT_TRUE(ran);
}

TEST_P(spawn_test, small_values) {
    EXPECT_EQ(finish(spawn([] {
                  begin();
                  return -7;
              })),
              -7);
    EXPECT_EQ(finish(spawn([] {
                  begin();
                  return std::int64_t{-0x7654'3210'fedc'ba98};
              })),
              -0x7654'3210'fedc'ba98);
    EXPECT_EQ(finish(spawn([] {
                  begin();
                  return 2.5;
              })),
              2.5);
}

TEST_P(spawn_test, references) {
    int target = 3;
    auto handle = spawn([&]() -> int & {
        begin();
        return target;
    });
    if (GetParam() == way::stolen)
        spin_until([&] { return handle.done(); });
    int &result = handle.join();
    EXPECT_EQ(&result, &target);
}

TEST_P(spawn_test, move_only_values) {
    auto result = finish(spawn([p = std::make_unique<int>(4)]() mutable {
        begin();
        *p += 1;
        return std::move(p);
    }));
    EXPECT_EQ(*result, 5);
}

TEST_P(spawn_test, large_results) {
    const auto result = finish(spawn([] {
        begin();
        std::array<int, 5000> a{};
        a[4999] = 8;
        return a;
    }));
    EXPECT_EQ(result[4999], 8);
    EXPECT_EQ(finish(spawn([] { return std::string(100000, 'x'); })).size(), 100000u);
}

struct tracked {
    static inline std::atomic<int> alive{0};
    const tracked *self = this; // not trivially movable: knows where it lies
    tracked() { alive.fetch_add(1); }
    tracked(const tracked &) : tracked() {}
    tracked(tracked &&) noexcept : tracked() {}
    tracked &operator=(const tracked &) = delete;
    ~tracked() { alive.fetch_sub(self == this ? 1 : 1000); }
};

TEST_P(spawn_test, closures_and_results_live_where_they_think) {
    {
        const tracked result = finish(spawn([t = tracked()] {
            begin();
            EXPECT_EQ(t.self, &t);
            return t;
        }));
        EXPECT_EQ(result.self, &result);
        EXPECT_EQ(tracked::alive.load(), 1);
        finish(spawn([t = tracked(), fat = std::array<char, 100>{}] {
            begin();
            EXPECT_EQ(t.self, &t);
            EXPECT_EQ(fat[99], 0);
        }));
    }
    EXPECT_EQ(tracked::alive.load(), 0);
}

TEST_P(spawn_test, arguments_are_bound) {
    const std::string kept = "kept";
    auto unique = std::make_unique<int>(5);
    const auto result = finish(spawn(
        [](const std::string &a, std::unique_ptr<int> b, int c, std::string &&d) {
            begin();
            EXPECT_EQ(a, "kept"); // the task's own copy
            return a + std::to_string(*b + c) + std::move(d);
        },
        kept, std::move(unique), 2, std::string("d")));
    EXPECT_EQ(result, "kept7d");
}

struct thing {
    int base;
    int plus(int n) const { return base + n; }
};
int twice(int n) { return 2 * n; }

TEST_P(spawn_test, all_kinds_of_callables) {
    EXPECT_EQ(finish(spawn(twice, 4)), 8);
    EXPECT_EQ(finish(spawn(&twice, 4)), 8);
    EXPECT_EQ(finish(spawn(&thing::plus, thing{3}, 4)), 7);
    EXPECT_EQ(finish(spawn(&thing::base, thing{3})), 3);
    EXPECT_EQ(finish(spawn(std::function<int()>([] { return 6; }))), 6);
    const auto constant = [](std::tuple<int> t) { return std::get<0>(t); };
    EXPECT_EQ(finish(spawn(constant, std::tuple<int>(9))), 9);
    int seen = 0;
    finish(spawn([](int &n) { n = 1; }, std::ref(seen)));
    EXPECT_EQ(seen, 1);
}

TEST_P(spawn_test, exceptions_reach_the_joiner) {
    const auto failing = [t = tracked()](int n) -> int {
        begin();
        if (n != 0)
            throw std::out_of_range("number " + std::to_string(n));
        return n;
    };
    try {
        finish(spawn(failing, 3));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range &error) {
        EXPECT_STREQ(error.what(), "number 3");
    }
    EXPECT_EQ(tracked::alive.load(), 1) << "the original alone";
    EXPECT_EQ(finish(spawn(failing, 0)), 0) << "the slot works again";
    EXPECT_THROW(finish(spawn([]() -> std::string { throw 5; })), int);
}

TEST_P(spawn_test, an_exception_passes_through_nested_joins) {
    const auto outer = spawn([] {
        begin();
        auto inner = spawn([] {
            begin();
            throw std::string("deep");
        });
        inner.join();
    });
    try {
        const_cast<std::remove_const_t<decltype(outer)> &>(outer).join();
        ADD_FAILURE();
    } catch (const std::string &s) {
        EXPECT_EQ(s, "deep");
    }
}

int fib(int n) {
    if (n < 2)
        return n;
    auto left = spawn([n] { return fib(n - 1); });
    const int right = fib(n - 2);
    return left.join() + right;
}

TEST_P(spawn_test, recursion) {
    EXPECT_EQ(finish(spawn(fib, fult::testing::under_valgrind() ? 10 : 20)),
              fult::testing::under_valgrind() ? 55 : 6765);
}

// Slots of several words, of which joins of any order make all kinds of runs.
TEST_P(spawn_test, many_at_once_joined_in_any_order) {
    auto random = fult::testing::seeded(31);
    const std::size_t count = fult::testing::under_valgrind() ? 300 : 3000;
    for (int round = 0; round < 5; ++round) {
        std::vector<fult::handle<std::size_t>> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back(spawn([i] {
                if (i % 64 == 0)
                    begin();
                return i;
            }));
        std::vector<std::size_t> order(count);
        for (std::size_t i = 0; i < count; ++i)
            order[i] = i;
        if (round > 0)
            std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order)
            ASSERT_EQ(all[i].join(), i);
    }
}

// The result of a task that is not joined is destroyed at its end; the destructor still runs on the task.
struct yields_when_dropped {
    std::atomic<int> *drops;
    explicit yields_when_dropped(std::atomic<int> &d) : drops(&d) {}
    yields_when_dropped(yields_when_dropped &&other) noexcept : drops(std::exchange(other.drops, nullptr)) {}
    ~yields_when_dropped() {
        if (!drops)
            return;
        EXPECT_TRUE(fult::in_task());
        this_task::yield();
        spawn([this] { drops->fetch_add(1); }).join();
    }
};

TEST_P(spawn_test, dropped_results) {
    std::atomic<int> drops{0};
    for (int i = 0; i < 10; ++i)
        spawn([&] {
            begin();
            return yields_when_dropped(drops);
        }).detach();
    while (drops.load() != 10)
        this_task::yield();
    auto ended = spawn([&] {
        begin();
        return yields_when_dropped(drops);
    });
    while (!ended.done())
        this_task::yield();
    ended.detach();
    EXPECT_EQ(drops.load(), 11);
}

} // namespace
