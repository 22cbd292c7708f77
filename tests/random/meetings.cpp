// Semaphores, latches, barriers, events and what is done once.
#include "acts.hpp"
#include "spawning.hpp"
#include "waits.hpp"

namespace random_programs::perform {

void semaphore(actor &a) {
    const int permits = static_cast<int>(a.random.between(1, 3));
    fult::counting_semaphore<8> gate(permits);
    std::atomic<int> inside{0};
    actor_group all(a, a.random.between(2, 8), [&](actor &self, unsigned) {
        for (unsigned i = self.random.between(1, 8); i > 0; --i) {
            wait_until_it_has(
                self, [&] { return gate.acquire(), true; }, [&] { return gate.try_acquire(); },
                [&](auto d) { return gate.try_acquire_for(d); },
                [&](auto t) { return gate.try_acquire_until(t); },
                [&](const std::stop_token &stop) { return gate.acquire(stop); });
            const int now = inside.fetch_add(1) + 1;
            check(now <= permits, "%d within a semaphore of %d", now, permits);
            if (self.random.one_in(3))
                self.pause();
            inside.fetch_sub(1);
            gate.release();
        }
    });
    all.join();
    for (int i = 0; i < permits; ++i)
        check(gate.try_acquire(), "a semaphore has %d of %d left", i, permits);
    check(!gate.try_acquire(), "a semaphore has more than its %d", permits);
}

void latch(actor &a) {
    std::optional<fult::latch> door;
    std::atomic<unsigned> arrived{0};
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned) {
        if (self.random.one_in(2))
            self.pause();
        arrived.fetch_add(1);
        if (self.random.one_in(3))
            return door->arrive_and_wait();
        door->count_down();
        if (self.random.one_in(3))
            return;
        wait_until_it_has(
            self, [&] { return door->wait(), true; }, [&] { return door->try_wait(); },
            [&](auto d) { return door->wait_for(d); }, [&](auto t) { return door->wait_until(t); },
            [&](const std::stop_token &stop) { return door->wait(stop); });
    });
    door.emplace(static_cast<std::ptrdiff_t>(all.size()));
    all.open();
    door->wait();
    check(arrived.load() == all.size(), "a latch has opened after %u of %u", arrived.load(), all.size());
    all.join();
}

void barrier(actor &a) {
    std::atomic<unsigned> phases{0}, arrived{0};
    const auto complete = [&]() noexcept { phases.fetch_add(1); };
    std::optional<fult::barrier<decltype(complete)>> meeting;
    const unsigned rounds = a.random.between(1, 6);
    unsigned size = 0;
    const bool drops = a.random.one_in(3);
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned number) {
        for (unsigned i = 0; i < rounds; ++i) {
            arrived.fetch_add(1);
            if (drops && number == 0 && i + 1 == rounds) {
                meeting->arrive_and_drop();
                return;
            }
            if (self.random.one_in(4)) {
                auto token = meeting->arrive();
                if (self.random.one_in(2))
                    self.pause();
                meeting->wait(std::move(token));
            } else {
                meeting->arrive_and_wait();
            }
            check(arrived.load() >= (i + 1) * size, "a barrier let an actor through early in phase %u", i);
            check(phases.load() >= i + 1, "a barrier's completion comes late");
        }
    });
    size = all.size();
    if (size == 0)
        return;
    meeting.emplace(static_cast<std::ptrdiff_t>(size), complete);
    all.join();
    check(phases.load() == rounds && arrived.load() == rounds * size, "a barrier had %u of %u phases",
          phases.load(), rounds);
}

void event(actor &a) {
    fult::event bell(a.random.one_in(8));
    std::atomic<bool> rung{bell.is_set()};
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned) {
        wait_until_it_has(
            self, [&] { return bell.wait(), true; }, [&] { return bell.is_set(); },
            [&](auto d) { return bell.wait_for(d); }, [&](auto t) { return bell.wait_until(t); },
            [&](const std::stop_token &stop) { return bell.wait(stop); });
        check(rung.load(), "an event that was not set");
    });
    all.open();
    if (a.random.one_in(2))
        a.pause();
    rung.store(true);
    bell.set();
    all.join();
    bell.reset();
    check(!bell.is_set() && !bell.wait_for(std::chrono::nanoseconds(0)), "an event that was reset is set");
}

void once(actor &a) {
    fult::once_flag flag;
    std::atomic<unsigned> calls{0}, failures{0};
    const unsigned failing = a.random.below(3);
    actor_group all(a, a.random.between(failing + 1, 8), [&](actor &self, unsigned) {
        try {
            fult::call_once(flag, [&] {
                if (self.random.one_in(2))
                    self.pause();
                if (calls.fetch_add(1) < failing)
                    throw ordered(1);
            });
            check(calls.load() > failing, "call_once has returned before the call");
        } catch (const ordered &) {
            failures.fetch_add(1);
        }
    });
    all.join();
    const unsigned wanted = std::min(failing, all.size());
    check(failures.load() == wanted && calls.load() == std::min(failing + 1, all.size()),
          "%u calls of call_once, %u failures", calls.load(), failures.load());
}

} // namespace random_programs::perform
