// The objects of sync.h that guard, count and meet, between tasks and threads in C++.
#include <atomic>
#include <vector>

#include <fult/sync.h>

#include "acts.hpp"
#include "in_c_waits.hpp"
#include "spawning.hpp"

namespace random_programs::perform {

// A counter that the lock alone guards.
void c_lock(actor &a) {
    const owned_in_c<fult_qlock_t> lock(fult_qlock_create, fult_qlock_destroy);
    unsigned count = 0;
    std::atomic<unsigned> wanted{0};
    actor_group all(a, a.random.between(2, 8), [&](actor &self, unsigned) {
        for (unsigned i = self.random.between(1, 8); i > 0; --i) {
            get_in_c(
                self, "fult_qlock_lock", [&] { return fult_qlock_lock(lock); },
                [&] { return fult_qlock_trylock(lock); },
                [&](std::int64_t time) { return fult_qlock_timedlock(lock, time); });
            const unsigned before = count;
            if (self.random.one_in(3))
                self.pause();
            count = before + 1;
            wanted.fetch_add(1);
            expect_in_c("fult_qlock_unlock", fult_qlock_unlock(lock));
        }
    });
    all.join();
    check(count == wanted.load(), "a qlock in C let two in at a time: %u of %u", count, wanted.load());
}

void c_lock_for_readers(actor &a) {
    const owned_in_c<fult_shared_qlock_t> lock(fult_shared_qlock_create, fult_shared_qlock_destroy);
    unsigned first = 0, second = 0; // equal while no writer is inside
    std::atomic<unsigned> writes{0};
    std::atomic<int> readers{0};
    actor_group all(a, a.random.between(2, 8), [&](actor &self, unsigned) {
        for (unsigned i = self.random.between(1, 8); i > 0; --i) {
            if (self.random.one_in(3)) {
                get_in_c(
                    self, "fult_shared_qlock_lock", [&] { return fult_shared_qlock_lock(lock); },
                    [&] { return fult_shared_qlock_trylock(lock); },
                    [&](std::int64_t time) { return fult_shared_qlock_timedlock(lock, time); });
                check(readers.load() == 0, "a writer in C is beside a reader");
                ++first;
                if (self.random.one_in(2))
                    self.pause();
                ++second;
                writes.fetch_add(1);
                expect_in_c("fult_shared_qlock_unlock", fult_shared_qlock_unlock(lock));
                continue;
            }
            get_in_c(
                self, "fult_shared_qlock_lock_shared", [&] { return fult_shared_qlock_lock_shared(lock); },
                [&] { return fult_shared_qlock_trylock_shared(lock); },
                [&](std::int64_t time) { return fult_shared_qlock_timedlock_shared(lock, time); });
            readers.fetch_add(1);
            check(first == second, "a reader in C is beside a writer");
            if (self.random.one_in(2))
                self.pause();
            check(first == second, "a writer in C is beside a reader");
            readers.fetch_sub(1);
            expect_in_c("fult_shared_qlock_unlock_shared", fult_shared_qlock_unlock_shared(lock));
        }
    });
    all.join();
    check(first == writes.load() && second == first, "a shared_qlock in C has lost a write");
}

// A stock: each item that is put is taken once. A consumer that waits is signaled for each item.
void c_condition(actor &a) {
    const owned_in_c<fult_qlock_t> lock(fult_qlock_create, fult_qlock_destroy);
    const owned_in_c<fult_cond_t> changed(fult_cond_create, fult_cond_destroy);
    unsigned stock = 0, taken = 0;
    const unsigned each = a.random.between(1, 6);
    actor_group consumers(a, a.random.between(1, 6), [&](actor &self, unsigned) {
        expect_in_c("fult_qlock_lock", fult_qlock_lock(lock));
        for (unsigned i = 0; i < each; ++i) {
            while (stock == 0)
                got_in_c(
                    self, "fult_cond_wait", [&] { return fult_cond_wait(changed, lock); }, no_such_form,
                    [&](std::int64_t time) { return fult_cond_timedwait(changed, lock, time); });
            --stock;
            ++taken;
        }
        expect_in_c("fult_qlock_unlock", fult_qlock_unlock(lock));
    });
    const unsigned all = consumers.size() * each;
    consumers.open();
    for (unsigned put = 0; put < all;) {
        expect_in_c("fult_qlock_lock", fult_qlock_lock(lock));
        const unsigned some = std::min(a.random.between(1, 4), all - put);
        stock += some;
        put += some;
        if (some > 1 || a.random.one_in(3))
            expect_in_c("fult_cond_broadcast", fult_cond_broadcast(changed));
        else
            expect_in_c("fult_cond_signal", fult_cond_signal(changed));
        expect_in_c("fult_qlock_unlock", fult_qlock_unlock(lock));
        if (a.random.one_in(2))
            a.pause();
    }
    consumers.join();
    check(taken == all && stock == 0, "a condition in C: %u of %u taken, %u left", taken, all, stock);
}

void c_semaphore(actor &a) {
    const unsigned permits = a.random.between(0, 3);
    const owned_in_c<fult_sem_t> gate(fult_sem_create, fult_sem_destroy, std::size_t{permits});
    std::atomic<unsigned> inside{0};
    actor_group all(a, a.random.between(2, 8), [&](actor &self, unsigned) {
        for (unsigned i = self.random.between(1, 6); i > 0; --i) {
            get_in_c(
                self, "fult_sem_acquire", [&] { return fult_sem_acquire(gate); },
                [&] { return fult_sem_tryacquire(gate); },
                [&](std::int64_t time) { return fult_sem_timedacquire(gate, time); });
            check(inside.fetch_add(1) < permits + 2, "too many within a semaphore in C");
            if (self.random.one_in(3))
                self.pause();
            inside.fetch_sub(1);
            expect_in_c("fult_sem_release", fult_sem_release(gate, 1));
        }
    });
    all.open();
    expect_in_c("fult_sem_release", fult_sem_release(gate, 2));
    expect_in_c("fult_sem_release", fult_sem_release(gate, 0));
    all.join();
    for (unsigned i = 0; i < permits + 2; ++i)
        expect_in_c("fult_sem_tryacquire", fult_sem_tryacquire(gate));
    expect_in_c("fult_sem_tryacquire", fult_sem_tryacquire(gate), FULT_ERR_BUSY);
    expect_in_c("fult_sem_timedacquire", fult_sem_timedacquire(gate, 0), FULT_ERR_TIMEOUT);
}

// Rounds of a barrier, one of whose participants is the last; a latch that the others count down.
void c_barrier(actor &a) {
    const unsigned rounds = a.random.between(1, 6);
    fult_barrier_t meeting = nullptr;
    fult_latch_t over = nullptr;
    std::atomic<unsigned> arrived{0}, lasts{0};
    unsigned size = 0;
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned) {
        for (unsigned i = 0; i < rounds; ++i) {
            arrived.fetch_add(1);
            int last = -1;
            expect_in_c("fult_barrier_wait", fult_barrier_wait(meeting, &last));
            check(arrived.load() >= (i + 1) * size, "a barrier in C lets a participant through early");
            check(last == 0 || last == 1, "fult_barrier_wait stores %d", last);
            lasts.fetch_add(static_cast<unsigned>(last));
            if (self.random.one_in(3))
                self.pause();
        }
        expect_in_c("fult_latch_count_down", fult_latch_count_down(over, 1));
        if (self.random.one_in(2))
            get_in_c(
                self, "fult_latch_wait", [&] { return fult_latch_wait(over); }, no_such_form,
                [&](std::int64_t time) { return fult_latch_timedwait(over, time); });
    });
    size = all.size();
    expect_in_c("fult_latch_create", fult_latch_create(&over, size));
    if (size > 0) {
        expect_in_c("fult_barrier_create", fult_barrier_create(&meeting, size));
        expect_in_c("fult_latch_timedwait", fult_latch_timedwait(over, 0), FULT_ERR_TIMEOUT);
    }
    all.open();
    expect_in_c("fult_latch_wait", fult_latch_wait(over));
    check(lasts.load() == (size ? rounds : 0), "%u participants of %u rounds were the last", lasts.load(),
          rounds);
    all.join();
    expect_in_c("fult_latch_destroy", fult_latch_destroy(over));
    if (meeting)
        expect_in_c("fult_barrier_destroy", fult_barrier_destroy(meeting));
}

// An event ends all waits; what is called once is done before any waiter goes on.
void c_event(actor &a) {
    const owned_in_c<fult_event_t> go(fult_event_create, fult_event_destroy);
    const owned_in_c<fult_once_t> flag(fult_once_create, fult_once_destroy);
    struct work {
        unsigned calls = 0, done = 0;
        bool suspends = false;
    } once;
    once.suspends = a.random.one_in(2);
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned) {
        get_in_c(
            self, "fult_event_wait", [&] { return fult_event_wait(go); }, no_such_form,
            [&](std::int64_t time) { return fult_event_timedwait(go, time); });
        const auto call = [](void *argument) {
            auto *const what = static_cast<work *>(argument);
            ++what->calls;
            if (what->suspends && fult_self() != 0)
                expect_in_c("fult_yield", fult_yield());
            ++what->done;
        };
        expect_in_c("fult_once_call", fult_once_call(flag, call, &once));
        check(once.calls == 1 && once.done == 1, "fult_once_call: %u calls, %u done", once.calls, once.done);
    });
    expect_in_c("fult_event_timedwait", fult_event_timedwait(go, 0), FULT_ERR_TIMEOUT);
    expect_in_c("fult_event_set", fult_event_set(go));
    all.join();
    expect_in_c("fult_event_wait", fult_event_wait(go));
    expect_in_c("fult_event_reset", fult_event_reset(go));
    // time: either order is right
    expect_in_c("fult_event_timedwait", fult_event_timedwait(go, 1000), FULT_ERR_TIMEOUT);
}

} // namespace random_programs::perform
