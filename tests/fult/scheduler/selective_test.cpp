#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include <fult/detail/tied.hpp>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/scale.hpp"

namespace {

using namespace fult;
using fult::testing::scaled;

// Tasks that one worker may start, or any, at the moment.
class restricted {
  public:
    static constexpr unsigned anywhere = ~0u;
    restricted(std::atomic<unsigned> &allowed, std::ptrdiff_t tasks) : left(tasks), allowed_(allowed) {}
    void submit(detail::task *t = detail::take_slot_slow()) {
        t->ops = &ops;
        ::new (static_cast<void *>(t->storage)) restricted *(this);
        detail::make_ready_slow(t);
    }
    latch left;
    std::atomic<int> elsewhere{0}; // those that another worker has run

  private:
    static restricted &of(const detail::task &t) {
        return *detail::storage_as<restricted *>(const_cast<detail::task &>(t));
    }
    static bool may_start(const detail::task &t) noexcept {
        const unsigned allowed = of(t).allowed_;
        return allowed == anywhere || allowed == detail::deciding_worker();
    }
    static void run(detail::task &t) noexcept {
        t.join.store(detail::join_detached, std::memory_order_relaxed);
        const unsigned allowed = of(t).allowed_;
        of(t).elsewhere += allowed != anywhere && allowed != static_cast<unsigned>(this_task::worker());
        of(t).left.count_down();
    }
    static void drop(detail::task &) noexcept {}
    static constexpr detail::task_ops ops{&run, &drop, &may_start};
    std::atomic<unsigned> &allowed_;
};

// The main task's worker runs none of them itself while it is selective.
class selective : public ::testing::Test {
  protected:
    void await(latch &all) {
        detail::select_starts(true);
        all.wait();
        detail::select_starts(false);
    }
    static options with(unsigned workers) {
        options o;
        o.workers = workers;
        return o;
    }
    // Worker 1 has tasks that worker 0 may not start, and hides some that it may. Returns how many of these
    // worker 0 has not run.
    template <class Wait> int find_hidden(const Wait &wait) {
        runtime r(with(2));
        constexpr int others = 20, mine = 3;
        std::atomic<unsigned> here{0};
        allowed = 7;
        restricted other(allowed, others), own(here, mine);
        latch begun(1);
        std::atomic<bool> are_others_there{false};
        auto hides = spawn_pinned(1, [&] {
            begun.count_down();
            while (!are_others_there) {
            }
            for (int i = 0; i < mine; ++i)
                own.submit();
            while (!own.left.try_wait()) {
            }
        });
        begun.wait();
        for (int i = 0; i < others; ++i)
            other.submit(detail::take_slot_with({.worker = 1}));
        are_others_there = true;
        wait(own.left);
        allowed = restricted::anywhere;
        hides.join();
        other.left.wait();
        return own.elsewhere;
    }
    std::atomic<unsigned> allowed{restricted::anywhere};
};

TEST_F(selective, a_worker_leaves_to_others_what_it_may_not_start) {
    for (const unsigned workers : {2u, 3u, 8u}) {
        runtime r(with(workers));
        for (const unsigned only : {workers - 1, 1u}) {
            const auto tasks = static_cast<std::ptrdiff_t>(scaled(500));
            allowed = only;
            restricted some(allowed, tasks);
            for (std::ptrdiff_t i = 0; i < tasks; ++i)
                some.submit();
            await(some.left);
            EXPECT_EQ(some.elsewhere, 0) << workers << " workers, for " << only;
        }
    }
}

TEST_F(selective, a_thief_leaves_what_it_may_not_start) {
    runtime r(with(4));
    const auto tasks = static_cast<std::ptrdiff_t>(scaled(500));
    allowed = 0;
    restricted some(allowed, tasks);
    for (std::ptrdiff_t i = 0; i < tasks; ++i) {
        some.submit();
        if (i % 50 == 0)
            spawn([] { this_task::yield(); }).detach(); // for the thieves
    }
    some.left.wait();
    EXPECT_EQ(some.elsewhere, 0);
}

TEST_F(selective, a_worker_finds_what_it_may_start_among_many_others) {
    runtime r(with(1));
    const auto many = static_cast<std::ptrdiff_t>(scaled(2000));
    std::atomic<unsigned> here{0};
    allowed = 7; // there is no such worker
    restricted others(allowed, many), own(here, 3);
    for (std::ptrdiff_t i = 0; i < many; ++i) {
        others.submit();
        if (i == 0 || i == many / 2 || i == many - 1)
            own.submit();
    }
    await(own.left);
    EXPECT_FALSE(others.left.try_wait());
    allowed = restricted::anywhere;
    await(others.left);
}

TEST_F(selective, what_may_start_later_is_found_by_a_worker_that_sleeps) {
    runtime r(with(2));
    allowed = 7;
    restricted one(allowed, 1);
    one.submit();
    std::thread later([this] {
        std::this_thread::yield();
        allowed = restricted::anywhere;
    });
    await(one.left);
    later.join();
    EXPECT_TRUE(one.left.try_wait());
}

// Others are public there all the time, which the worker passes over.
TEST_F(selective, a_search_finds_what_a_worker_hides_that_decides_nothing) {
    EXPECT_EQ(find_hidden([this](latch &all) { await(all); }), 0);
}

TEST_F(selective, a_task_that_yields_finds_what_a_worker_hides_that_decides_nothing) {
    const auto poll = [](const latch &all) {
        detail::select_starts(true);
        while (!all.try_wait())
            this_task::yield();
        detail::select_starts(false);
    };
    EXPECT_EQ(find_hidden(poll), 0);
}

TEST_F(selective, tasks_that_have_started_resume) {
    runtime r(with(2));
    allowed = 7;
    restricted one(allowed, 1);
    one.submit();
    latch started(1), done(1);
    event go;
    auto waiting = spawn([&] {
        started.count_down();
        go.wait();
        done.count_down();
    });
    await(started);
    go.set();
    await(done);
    EXPECT_FALSE(one.left.try_wait());
    allowed = restricted::anywhere;
    waiting.join();
    one.left.wait();
}

} // namespace
