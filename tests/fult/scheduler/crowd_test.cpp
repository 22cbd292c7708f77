// Teams of more workers than each looks at one by one: hints show where tasks are, and none is lost.
#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync/qlock.hpp>

#include "fult/scheduler/team.hpp"
#include "fult/scheduler/worker.hpp"
#include "tests/support/asleep.hpp"
#include "tests/support/busy_caller.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::detail::neighbours;
using fult::detail::worker_bits;
using fult::testing::compute_while_others_run;
using fult::testing::expect_ends;
using fult::testing::spin_until;
using fult::testing::workers;
namespace this_task = fult::this_task;

std::vector<unsigned> all_from(const worker_bits &bits, unsigned start) {
    std::vector<unsigned> found;
    bits.any(start, [&](unsigned worker) {
        found.push_back(worker);
        return false;
    });
    return found;
}

TEST(worker_bits, sets_and_sweeps) {
    worker_bits bits;
    EXPECT_EQ(bits.next(5), -1);
    for (const unsigned worker : {3u, 63u, 64u, 1023u, 64u})
        bits.add(worker);
    EXPECT_EQ(all_from(bits, 0), (std::vector<unsigned>{3, 63, 64, 1023}));
    EXPECT_EQ(all_from(bits, 100), (std::vector<unsigned>{64, 1023, 3, 63}));
    EXPECT_TRUE(bits.any(0, [](unsigned worker) { return worker == 64; }));
    EXPECT_EQ(bits.next(2), 3);
    EXPECT_EQ(bits.next(3), 63);
    EXPECT_EQ(bits.next(63), 64);
    EXPECT_EQ(bits.next(64), 1023);
    EXPECT_EQ(bits.next(1023), 3);
    bits.remove(63);
    EXPECT_FALSE(bits.contains(63));
    EXPECT_EQ(bits.take_word(0), std::uint64_t{1} << 3);
    EXPECT_EQ(bits.take_word(0), 0u);
    bits.remove(1023);
    EXPECT_EQ(bits.next(64), 64) << "the only one comes after itself";
}

// Four workers, each of which looks at one other.
class small_crowd : public ::testing::Test {
  protected:
    static constexpr unsigned count = 4;
    fult::detail::worker_team &team() { return *fult::detail::running_team(); }

    bool is_asked(unsigned worker) {
        return (team().homes[worker]->request_flags.load() & fult::detail::work_requested) != 0;
    }

    // Tasks of this worker, the only neighbour of worker 3, which is busy until `over`: hints alone show
    // them.
    template <class Body> void while_the_neighbour_is_busy(Body body) {
        std::atomic<bool> begun{false}, over{false};
        auto holder = fult::spawn_pinned(count - 1, [&] {
            begun = true;
            spin_until([&] { return over.load(); });
        });
        spin_until([&] { return begun.load(); });
        expect_ends(body);
        over = true;
        holder.join();
    }

    // As long as there are workers, which read it.
    struct one_neighbour {
        one_neighbour() noexcept { neighbours::max_neighbours = 1; }
        ~one_neighbour() { neighbours::max_neighbours = before; }
        const unsigned before = neighbours::max_neighbours;
    } few;
    fult::runtime running{workers(count)};
};

TEST_F(small_crowd, each_worker_has_few_neighbours) {
    for (unsigned i = 0; i < count; ++i) {
        unsigned seen = 0;
        team().homes[i]->neighbours.for_each([&](const fult::detail::worker &) { ++seen; });
        EXPECT_EQ(seen, 1u);
    }
}

// So the next one that falls asleep looks nowhere for public tasks, and knows which workers it has to ask.
TEST_F(small_crowd, all_are_asked_or_hide_when_all_sleep) {
    for (int round = 0; round < 20; ++round) {
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 100; ++i)
            all.push_back(spawn([] { this_task::yield(); }));
        join_all(all);
        expect_ends([&] {
            fult::testing::spin_until_asleep(count - 1);
            spin_until([&] { return all_from(team().crowd.shown, 0).empty(); });
            for (unsigned i = 0; i < count; ++i)
                spin_until([&] { return is_asked(i) || team().crowd.hiding.contains(i); });
        });
    }
}

TEST_F(small_crowd, hidden_tasks_are_found) {
    for (std::size_t round = 0; round < fult::testing::scaled(100); ++round)
        while_the_neighbour_is_busy(
            [] { compute_while_others_run(200, [](auto body) { return spawn(body); }); });
}

TEST_F(small_crowd, public_tasks_are_found) {
    for (std::size_t round = 0; round < fult::testing::scaled(100); ++round)
        while_the_neighbour_is_busy(
            [] { compute_while_others_run(20, [](auto body) { return spawn({.name = "public"}, body); }); });
}

TEST_F(small_crowd, handed_off_tasks_are_found) {
    for (std::size_t round = 0; round < fult::testing::scaled(20); ++round) {
        fult::qlock lock;
        std::atomic<int> waiting{0}, had{0};
        std::vector<fult::handle<void>> all;
        lock.lock();
        for (int i = 0; i < 5; ++i)
            all.push_back(spawn([&] {
                waiting.fetch_add(1);
                lock.lock();
                had.fetch_add(1);
                lock.unlock();
            }));
        while (waiting.load() != 5)
            this_task::yield();
        while_the_neighbour_is_busy([&] {
            lock.unlock();
            spin_until([&] { return had.load() == 5; });
        });
        join_all(all);
    }
}

TEST_F(small_crowd, several_generations_are_found) {
    for (std::size_t round = 0; round < fult::testing::scaled(20); ++round)
        while_the_neighbour_is_busy(fult::testing::compute_while_others_run_generations);
}

// As many as a region of many threads has.
TEST(crowd, of_a_hundred_workers) {
    if (fult::testing::under_valgrind() || fult::testing::emulated())
        GTEST_SKIP() << "not address space enough for the tables";
    const fult::runtime running(workers(100));
    ASSERT_TRUE(fult::detail::running_team()->crowd.exists());
    std::atomic<unsigned> ran{0};
    std::vector<fult::handle<void>> all;
    for (unsigned i = 0; i < 100; ++i)
        all.push_back(fult::spawn_pinned(i, [&] {
            for (int k = 0; k < 10; ++k)
                spawn([&] { ran.fetch_add(1); }).detach();
        }));
    join_all(all);
    expect_ends([&] {
        while (ran.load() != 1000)
            this_task::yield();
    });
    expect_ends([] {
        fult::testing::spin_until_asleep(99);
        spin_until([] { return all_from(fult::detail::running_team()->crowd.shown, 0).empty(); });
    });
}

} // namespace
