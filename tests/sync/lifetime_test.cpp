// A task that has learned from an object that something is over destroys it at once
// (docs/synchronization.md).
#include <memory>

#include <fult/blocking.hpp>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;

// In each round one task ends a wait and the waiter destroys the object; as tasks and as threads.
template <class Object> class one_round {
  public:
    template <class Make, class Bring, class Learn>
    static void run(const Make &make, const Bring &bring, const Learn &learn) {
        const fult::runtime running(fult::testing::workers(2));
        for (std::size_t r = 0; r < fult::testing::scaled(2000); ++r) {
            Object *object = make();
            std::atomic<bool> there{false};
            const auto bringer = [&, object] {
                there = true;
                bring(*object);
            };
            const auto learner = [&, object] {
                while (!there.load())
                    fult::this_task::yield();
                learn(*object);
                delete object;
            };
            auto task = fult::spawn(bringer);
            learner();
            task.join();
        }
        std::thread foreign([&] {
            for (std::size_t r = 0; r < fult::testing::scaled(300); ++r) {
                Object *object = make();
                std::atomic<bool> brought{false};
                auto task = fult::spawn([&, object] {
                    brought = true;
                    bring(*object);
                });
                learn(*object);
                EXPECT_TRUE(brought.load());
                delete object;
                task.join();
            }
        });
        fult::run_blocking([&] { foreign.join(); });
    }
};

template <class Condition> void until(Condition condition) {
    while (!condition())
        if (fult::in_task())
            fult::this_task::yield();
        else
            ::sched_yield();
}

TEST(lifetime, event) {
    const auto make = [] { return new fult::event; };
    const auto set = [](fult::event &e) { e.set(); };
    one_round<fult::event>::run(make, set, [](fult::event &e) { e.wait(); });
    one_round<fult::event>::run(make, set, [](fult::event &e) { until([&] { return e.is_set(); }); });
    // time: either order is right
    one_round<fult::event>::run(make, set, [](fult::event &e) { until([&] { return e.wait_for(1us); }); });
}

TEST(lifetime, latch) {
    const auto make = [] { return new fult::latch(2); };
    const auto count = [](fult::latch &l) {
        l.count_down();
        l.count_down();
    };
    one_round<fult::latch>::run(make, count, [](fult::latch &l) { l.wait(); });
    one_round<fult::latch>::run(make, count, [](fult::latch &l) { until([&] { return l.try_wait(); }); });
}

TEST(lifetime, semaphore) {
    using semaphore = fult::counting_semaphore<>;
    const auto make = [] { return new semaphore(0); };
    const auto release = [](semaphore &s) { s.release(2); };
    one_round<semaphore>::run(make, release, [](semaphore &s) {
        s.acquire();
        s.acquire();
    });
    one_round<semaphore>::run(make, release, [](semaphore &s) {
        s.acquire();
        until([&] { return s.try_acquire(); });
    });
}

TEST(lifetime, locks) {
    const auto use = [](auto &l) { l.unlock(); };
    const auto learn = [](auto &l) {
        until([&] { return l.try_lock_for(1us) || l.try_lock(); }); // time: either order is right
        l.unlock();
    };
    const auto taken = [](auto *l) {
        l->lock();
        return l;
    };
    one_round<fult::qlock>::run([&] { return taken(new fult::qlock); }, use, learn);
    one_round<fult::shared_qlock>::run([&] { return taken(new fult::shared_qlock); }, use, learn);
}

TEST(lifetime, channel) {
    const auto make = [] { return new fult::channel<int>(1); };
    one_round<fult::channel<int>>::run(
        make, [](auto &c) { (void)c.send(1); },
        [](auto &c) { until([&] { return c.try_receive().has_value(); }); });
    one_round<fult::channel<int>>::run(
        make, [](auto &c) { c.close(); }, [](auto &c) { until([&] { return c.closed(); }); });
    one_round<fult::channel<int>>::run(
        make, [](auto &c) { c.close(); }, [](auto &c) { EXPECT_FALSE(c.receive()); });
}

// Sees the value while the other worker still sets it.
TEST(lifetime, promise) {
    const fult::runtime running(fult::testing::workers(2));
    for (std::size_t r = 0; r < fult::testing::scaled(5'000); ++r) {
        fult::handle<void> setter;
        {
            fult::promise<int> promise;
            const fult::future<int> future = promise.get_future();
            setter = fult::spawn_pinned(1, [&] { promise.set_value(1); });
            for (unsigned i = 0; i < 10'000 && !future.ready(); ++i)
                fult::detail::cpu_relax();
            until([&] { return future.ready(); });
            EXPECT_TRUE(future.valid());
        }
        setter.join();
    }
}

TEST(lifetime, full_empty) {
    const auto make = [] { return new fult::full_empty<int>; };
    const auto write = [](auto &f) { f.writeEF(1); };
    one_round<fult::full_empty<int>>::run(make, write, [](auto &f) { f.readFE(); });
    one_round<fult::full_empty<int>>::run(make, write, [](auto &f) { until([&] { return f.is_full(); }); });
}

} // namespace
