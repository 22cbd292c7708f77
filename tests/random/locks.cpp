// Locks and condition variables: exclusion, order, no notification lost.
#include <mutex>
#include <shared_mutex>

#include "acts.hpp"
#include "spawning.hpp"
#include "waits.hpp"

namespace random_programs::perform {
namespace {

void take(actor &a, fult::qlock &lock) {
    wait_until_it_has(
        a, [&] { return lock.lock(), true; }, [&] { return lock.try_lock(); },
        [&](auto d) { return lock.try_lock_for(d); }, [&](auto t) { return lock.try_lock_until(t); },
        [&](const std::stop_token &stop) { return lock.lock(stop); });
}

void take(actor &a, fult::shared_qlock &lock) {
    wait_until_it_has(
        a, [&] { return lock.lock(), true; }, [&] { return lock.try_lock(); },
        [&](auto d) { return lock.try_lock_for(d); }, [&](auto t) { return lock.try_lock_until(t); },
        [&](const std::stop_token &stop) { return lock.lock(stop); });
}

void take_shared(actor &a, fult::shared_qlock &lock) {
    wait_until_it_has(
        a, [&] { return lock.lock_shared(), true; }, [&] { return lock.try_lock_shared(); },
        [&](auto d) { return lock.try_lock_shared_for(d); },
        [&](auto t) { return lock.try_lock_shared_until(t); },
        [&](const std::stop_token &stop) { return lock.lock_shared(stop); });
}

} // namespace

void lock(actor &a) {
    fult::qlock guard;
    unsigned count = 0; // the lock's
    std::atomic<unsigned> expected{0};
    std::atomic<int> inside{0};
    actor_group all(a, a.random.between(2, 8), [&](actor &self, unsigned) {
        const unsigned rounds = self.random.between(1, 10);
        expected.fetch_add(rounds);
        for (unsigned i = 0; i < rounds; ++i) {
            take(self, guard);
            check(inside.fetch_add(1) == 0, "two own one qlock");
            ++count;
            if (self.random.one_in(4))
                self.pause();
            inside.fetch_sub(1);
            guard.unlock();
        }
    });
    all.join();
    check(count == expected.load(), "a qlock let %u of %u in", count, expected.load());
}

// Queued waiters get the lock in the queue's order.
void lock_in_order(actor &a) {
    fult::qlock guard;
    std::vector<unsigned> order; // the lock's
    guard.lock();
    std::vector<fult::handle<void>> tasks;
    const unsigned count = std::min(a.random.between(2, 8), a.in.how.most_tasks_at_a_time);
    for (unsigned i = 0; i < count; ++i) {
        auto next = spawn_somehow(a, [&guard, &order, i, form = a.random.below(3)] {
            if (form == 0)
                guard.lock();
            else if (form == 1)
                // time: given, never reached
                check(guard.try_lock_for(std::chrono::hours(1000)), "a try_lock_for has given up");
            else
                check(guard.lock(std::stop_token()), "a lock has given up");
            order.push_back(i);
            guard.unlock();
            moved();
        });
        if (!next.valid())
            break;
        tasks.push_back(std::move(next));
        while (guard.waiting() != tasks.size())
            a.pause();
    }
    guard.unlock();
    fult::join_all(tasks);
    guard.lock();
    check(order.size() == tasks.size(), "a qlock let %zu of %zu in", order.size(), tasks.size());
    for (unsigned i = 0; i < order.size(); ++i)
        check(order[i] == i, "a qlock let number %u in as number %u", order[i], i);
}

void lock_for_readers(actor &a) {
    fult::shared_qlock guard;
    unsigned written = 0; // the lock's
    std::atomic<int> readers{0}, writers{0};
    actor_group all(a, a.random.between(2, 8), [&](actor &self, unsigned) {
        for (unsigned i = self.random.between(1, 10); i > 0; --i) {
            const bool writes = self.random.one_in(3);
            writes ? take(self, guard) : take_shared(self, guard);
            (writes ? writers : readers).fetch_add(1);
            if (writes)
                ++written;
            if (self.random.one_in(4))
                self.pause();
            check(writers.load() == (writes ? 1 : 0), "a writer is not alone");
            check(!writes || readers.load() == 0, "a reader beside a writer");
            (writes ? writers : readers).fetch_sub(1);
            writes ? guard.unlock() : guard.unlock_shared();
        }
    });
    all.join();
}

void spin(actor &a) {
    fult::spinlock guard;
    unsigned count = 0; // the lock's
    std::atomic<unsigned> expected{0};
    actor_group all(a, a.random.between(2, 6), [&](actor &self, unsigned) {
        const unsigned rounds = self.random.between(1, 30);
        expected.fetch_add(rounds);
        for (unsigned i = 0; i < rounds; ++i) {
            if (self.random.one_in(4)) {
                if (!guard.try_lock()) {
                    expected.fetch_sub(1);
                    continue;
                }
            } else {
                guard.lock();
            }
            ++count;
            guard.unlock();
        }
    });
    all.join();
    check(count == expected.load(), "a spinlock let %u of %u in", count, expected.load());
}

// Each in turn, by a variable that all wait for.
void condition(actor &a) {
    fult::qlock guard;
    fult::condition_variable changed;
    unsigned turn = 0; // the lock's
    const unsigned rounds = a.random.between(1, 6);
    const unsigned wanted = a.random.between(2, 6);
    unsigned size = 0; // set before the actors begin
    actor_group all(a, wanted, [&](actor &self, unsigned number) {
        for (unsigned i = 0; i < rounds; ++i) {
            std::unique_lock hold(guard);
            const unsigned mine = i * size + number;
            const auto is_mine = [&] { return turn == mine; };
            wait_until_it_has(
                self, [&] { return changed.wait(hold, is_mine), true; }, is_mine,
                [&](auto d) { return changed.wait_for(hold, d, is_mine); },
                [&](auto t) { return changed.wait_until(hold, t, is_mine); },
                [&](const std::stop_token &stop) { return changed.wait(hold, stop, is_mine); });
            check(hold.owns_lock() && turn == mine, "a condition variable has let the wrong one go on");
            ++turn;
            changed.notify_all();
        }
    });
    size = all.size();
    all.join();
    check(turn == rounds * size, "a turn was lost");
}

// A notification for each item; no waiter is passed over.
void notifications(actor &a) {
    fult::qlock guard;
    fult::condition_variable there;
    unsigned items = 0, taken = 0; // the lock's
    actor_group takers(a, a.random.between(1, 5), [&](actor &self, unsigned) {
        std::unique_lock hold(guard);
        if (self.random.one_in(3)) {
            while (items == 0)
                // time: either order is right
                if (there.wait_for(hold, std::chrono::microseconds(self.random.below(200))) ==
                    std::cv_status::timeout)
                    hold.unlock(), self.pause(), hold.lock();
        } else {
            there.wait(hold, [&] { return items > 0; });
        }
        --items;
        ++taken;
    });
    takers.open();
    for (unsigned i = 0; i < takers.size(); ++i) {
        {
            const std::lock_guard hold(guard);
            ++items;
        }
        a.random.one_in(4) ? there.notify_all() : there.notify_one();
        if (a.random.one_in(2))
            a.pause();
    }
    takers.join();
    check(items == 0 && taken == takers.size(), "%u of %u items were taken", taken, takers.size());
}

} // namespace random_programs::perform
