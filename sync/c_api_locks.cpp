// The C interface: locks, barriers, semaphores and other objects without values.
#include <cstdint>
#include <limits>

#include <fult/sync.h>
#include <fult/sync.hpp>

#include "fult/c_api/c_object.hpp"

using namespace fult::detail;

namespace {
constexpr std::size_t max_count = std::numeric_limits<std::ptrdiff_t>::max();
std::ptrdiff_t checked(std::size_t count) {
    if (count > max_count)
        throw std::invalid_argument("fult: a count is too large");
    return static_cast<std::ptrdiff_t>(count);
}

// What objects of several kinds do.
constexpr auto lock_it = [](auto &object) { object.lock(); };
constexpr auto try_lock_it = [](auto &object) { return ok_or(object.try_lock(), FULT_ERR_BUSY); };
constexpr auto unlock_it = [](auto &object) { object.unlock(); };
constexpr auto await_it = [](auto &object) { object.wait(); };
auto lock_within(int64_t time) {
    return [=](auto &object) { return ok_or(object.try_lock_for(to_duration(time)), FULT_ERR_TIMEOUT); };
}
auto await_within(int64_t time) {
    return [=](auto &object) { return ok_or(object.wait_for(to_duration(time)), FULT_ERR_TIMEOUT); };
}
} // namespace

struct fult_qlock {
    fult::qlock object;
};
int fult_qlock_create(fult_qlock_t *lock) { return create(lock); }
int fult_qlock_destroy(fult_qlock_t lock) { return destroy(lock); }
int fult_qlock_lock(fult_qlock_t lock) { return call_with(lock, lock_it); }
int fult_qlock_trylock(fult_qlock_t lock) { return call_with(lock, try_lock_it); }
int fult_qlock_timedlock(fult_qlock_t lock, int64_t nanoseconds) {
    return call_with(lock, lock_within(nanoseconds));
}
int fult_qlock_unlock(fult_qlock_t lock) { return call_with(lock, unlock_it); }

struct fult_shared_qlock {
    fult::shared_qlock object;
};
int fult_shared_qlock_create(fult_shared_qlock_t *lock) { return create(lock); }
int fult_shared_qlock_destroy(fult_shared_qlock_t lock) { return destroy(lock); }
int fult_shared_qlock_lock(fult_shared_qlock_t lock) { return call_with(lock, lock_it); }
int fult_shared_qlock_trylock(fult_shared_qlock_t lock) { return call_with(lock, try_lock_it); }
int fult_shared_qlock_timedlock(fult_shared_qlock_t lock, int64_t nanoseconds) {
    return call_with(lock, lock_within(nanoseconds));
}
int fult_shared_qlock_unlock(fult_shared_qlock_t lock) { return call_with(lock, unlock_it); }
int fult_shared_qlock_lock_shared(fult_shared_qlock_t lock) {
    return call_with(lock, [](auto &object) { object.lock_shared(); });
}
int fult_shared_qlock_trylock_shared(fult_shared_qlock_t lock) {
    return call_with(lock, [](auto &object) { return ok_or(object.try_lock_shared(), FULT_ERR_BUSY); });
}
int fult_shared_qlock_timedlock_shared(fult_shared_qlock_t lock, int64_t nanoseconds) {
    return call_with(lock, [&](auto &object) {
        return ok_or(object.try_lock_shared_for(to_duration(nanoseconds)), FULT_ERR_TIMEOUT);
    });
}
int fult_shared_qlock_unlock_shared(fult_shared_qlock_t lock) {
    return call_with(lock, [](auto &object) { object.unlock_shared(); });
}

struct fult_cond {
    fult::condition_variable object;
};
int fult_cond_create(fult_cond_t *cond) { return create(cond); }
int fult_cond_destroy(fult_cond_t cond) { return destroy(cond); }
int fult_cond_wait(fult_cond_t cond, fult_qlock_t lock) {
    if (!lock)
        return reject_argument("lock is NULL");
    return call_with(cond, [&](auto &object) { object.wait(lock->object); });
}
int fult_cond_timedwait(fult_cond_t cond, fult_qlock_t lock, int64_t nanoseconds) {
    if (!lock)
        return reject_argument("lock is NULL");
    return call_with(cond, [&](auto &object) {
        return ok_or(object.wait_for(lock->object, to_duration(nanoseconds)) == fult::cv_status::no_timeout,
                     FULT_ERR_TIMEOUT);
    });
}
int fult_cond_signal(fult_cond_t cond) {
    return call_with(cond, [](auto &object) { object.notify_one(); });
}
int fult_cond_broadcast(fult_cond_t cond) {
    return call_with(cond, [](auto &object) { object.notify_all(); });
}

struct fult_barrier {
    explicit fult_barrier(std::size_t participants) : object(checked(participants)) {}
    barrier_base object;
};
int fult_barrier_create(fult_barrier_t *barrier, size_t participants) {
    return create(barrier, participants);
}
int fult_barrier_destroy(fult_barrier_t barrier) { return destroy(barrier); }
int fult_barrier_wait(fult_barrier_t barrier, int *last) {
    return call_with(barrier, [&](auto &object) {
        waiter self;
        object.enqueue(self);
        const bool completes = object.arrive(1, "fult_barrier_wait");
        if (completes)
            object.complete(&self);
        barrier_base::wait_enqueued(self, &object);
        if (last)
            *last = completes;
    });
}

struct fult_sem {
    explicit fult_sem(std::size_t count) : object(checked(count)) {}
    fult::counting_semaphore<> object;
};
int fult_sem_create(fult_sem_t *sem, size_t count) { return create(sem, count); }
int fult_sem_destroy(fult_sem_t sem) { return destroy(sem); }
int fult_sem_acquire(fult_sem_t sem) {
    return call_with(sem, [](auto &object) { object.acquire(); });
}
int fult_sem_tryacquire(fult_sem_t sem) {
    return call_with(sem, [](auto &object) { return ok_or(object.try_acquire(), FULT_ERR_BUSY); });
}
int fult_sem_timedacquire(fult_sem_t sem, int64_t nanoseconds) {
    return call_with(sem, [&](auto &object) {
        return ok_or(object.try_acquire_for(to_duration(nanoseconds)), FULT_ERR_TIMEOUT);
    });
}
int fult_sem_release(fult_sem_t sem, size_t count) {
    return call_with(sem, [&](auto &object) { object.release(checked(count)); });
}

struct fult_latch {
    explicit fult_latch(std::size_t count) : object(checked(count)) {}
    fult::latch object;
};
int fult_latch_create(fult_latch_t *latch, size_t count) { return create(latch, count); }
int fult_latch_destroy(fult_latch_t latch) { return destroy(latch); }
int fult_latch_count_down(fult_latch_t latch, size_t count) {
    return call_with(latch, [&](auto &object) { object.count_down(checked(count)); });
}
int fult_latch_wait(fult_latch_t latch) { return call_with(latch, await_it); }
int fult_latch_timedwait(fult_latch_t latch, int64_t nanoseconds) {
    return call_with(latch, await_within(nanoseconds));
}

struct fult_event {
    fult::event object;
};
int fult_event_create(fult_event_t *event) { return create(event); }
int fult_event_destroy(fult_event_t event) { return destroy(event); }
int fult_event_set(fult_event_t event) {
    return call_with(event, [](auto &object) { object.set(); });
}
int fult_event_reset(fult_event_t event) {
    return call_with(event, [](auto &object) { object.reset(); });
}
int fult_event_wait(fult_event_t event) { return call_with(event, await_it); }
int fult_event_timedwait(fult_event_t event, int64_t nanoseconds) {
    return call_with(event, await_within(nanoseconds));
}

struct fult_once {
    fult::once_flag object;
};
int fult_once_create(fult_once_t *once) { return create(once); }
int fult_once_destroy(fult_once_t once) { return destroy(once); }
int fult_once_call(fult_once_t once, void (*function)(void *), void *argument) {
    if (!function)
        return reject_argument("function is NULL");
    return call_with(once, [&](auto &object) { fult::call_once(object, function, argument); });
}
