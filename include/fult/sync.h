/** @file
 * Synchronization in C between tasks and foreign threads in any mixture. Contracts as in fult/sync.hpp.
 *
 * Every function that returns int returns 0 or a status of fult.h. Functions that wait suspend a task and
 * block a foreign thread; all others do neither. All are callable from any thread. NULL in place of an
 * object is FULT_ERR_INVALID. Objects are created by create and freed by destroy, when no thread uses
 * them any more. Times are relative, in nanoseconds; negative: no limit. Counts above PTRDIFF_MAX are
 * FULT_ERR_INVALID. */
#ifndef FULT_SYNC_H
#define FULT_SYNC_H

#include <stdint.h>

#include <fult/fult.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A lock, first come, first served. */
typedef struct fult_qlock *fult_qlock_t;
/** Creates a lock. FULT_ERR_NO_MEMORY. */
FULT_API int fult_qlock_create(fult_qlock_t *lock);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_qlock_destroy(fult_qlock_t lock);
/** Waits for the lock. */
FULT_API int fult_qlock_lock(fult_qlock_t lock);
/** Acquires the lock if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_qlock_trylock(fult_qlock_t lock);
/** Waits for at most the given time. FULT_ERR_TIMEOUT. */
FULT_API int fult_qlock_timedlock(fult_qlock_t lock, int64_t nanoseconds);
/** Releases the lock to the next waiter. Called by the owner. */
FULT_API int fult_qlock_unlock(fult_qlock_t lock);

/** A lock for one writer or many readers. */
typedef struct fult_shared_qlock *fult_shared_qlock_t;
/** Creates a lock. FULT_ERR_NO_MEMORY. */
FULT_API int fult_shared_qlock_create(fult_shared_qlock_t *lock);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_shared_qlock_destroy(fult_shared_qlock_t lock);
/** Waits for the lock, as a writer. */
FULT_API int fult_shared_qlock_lock(fult_shared_qlock_t lock);
/** Acquires the lock if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_shared_qlock_trylock(fult_shared_qlock_t lock);
/** Waits for at most the given time. FULT_ERR_TIMEOUT. */
FULT_API int fult_shared_qlock_timedlock(fult_shared_qlock_t lock, int64_t nanoseconds);
/** Releases the lock to the next waiters. Called by the owner. */
FULT_API int fult_shared_qlock_unlock(fult_shared_qlock_t lock);
/** Waits for the lock, as a reader. */
FULT_API int fult_shared_qlock_lock_shared(fult_shared_qlock_t lock);
/** The same if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_shared_qlock_trylock_shared(fult_shared_qlock_t lock);
/** The same, for at most the given time. FULT_ERR_TIMEOUT. */
FULT_API int fult_shared_qlock_timedlock_shared(fult_shared_qlock_t lock, int64_t nanoseconds);
/** Called by a reader that owns the lock. */
FULT_API int fult_shared_qlock_unlock_shared(fult_shared_qlock_t lock);

/** A condition variable, for a fult_qlock_t that its waiter has locked. */
typedef struct fult_cond *fult_cond_t;
/** Creates a condition variable. FULT_ERR_NO_MEMORY. */
FULT_API int fult_cond_create(fult_cond_t *cond);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_cond_destroy(fult_cond_t cond);
/** Unlocks the lock, waits for a signal, locks it again. */
FULT_API int fult_cond_wait(fult_cond_t cond, fult_qlock_t lock);
/** The same, for at most the given time. FULT_ERR_TIMEOUT; the lock is locked in any case. */
FULT_API int fult_cond_timedwait(fult_cond_t cond, fult_qlock_t lock, int64_t nanoseconds);
/** Wakes the first waiter. */
FULT_API int fult_cond_signal(fult_cond_t cond);
/** Wakes all present waiters. */
FULT_API int fult_cond_broadcast(fult_cond_t cond);

/** A barrier with a number of participants, at least 1. wait stores 1 to *last, if last is not NULL, for
 * the participant that arrived last, 0 for the others. */
typedef struct fult_barrier *fult_barrier_t;
/** Creates a barrier. FULT_ERR_INVALID for 0 participants, FULT_ERR_NO_MEMORY. */
FULT_API int fult_barrier_create(fult_barrier_t *barrier, size_t participants);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_barrier_destroy(fult_barrier_t barrier);
/** Waits until all participants have arrived. Stores 1 to *last for the one that arrived last, 0 for the
 * others; last may be NULL. */
FULT_API int fult_barrier_wait(fult_barrier_t barrier, int *last);

/** A counting semaphore. */
typedef struct fult_sem *fult_sem_t;
/** Creates a semaphore with the given count. FULT_ERR_NO_MEMORY. */
FULT_API int fult_sem_create(fult_sem_t *sem, size_t count);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_sem_destroy(fult_sem_t sem);
/** Waits until the count is positive and decrements it. */
FULT_API int fult_sem_acquire(fult_sem_t sem);
/** Decrements the count if it is positive. FULT_ERR_BUSY. */
FULT_API int fult_sem_tryacquire(fult_sem_t sem);
/** Waits for at most the given time. FULT_ERR_TIMEOUT. */
FULT_API int fult_sem_timedacquire(fult_sem_t sem, int64_t nanoseconds);
/** Increments the count by `count`. */
FULT_API int fult_sem_release(fult_sem_t sem, size_t count);

/** A latch. */
typedef struct fult_latch *fult_latch_t;
/** Creates a latch with the given count. FULT_ERR_NO_MEMORY. */
FULT_API int fult_latch_create(fult_latch_t *latch, size_t count);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_latch_destroy(fult_latch_t latch);
/** Decrements the count by `count`. Ends the program if that is above the count. */
FULT_API int fult_latch_count_down(fult_latch_t latch, size_t count);
/** Waits until the count is zero. */
FULT_API int fult_latch_wait(fult_latch_t latch);
/** The same, for at most the given time. FULT_ERR_TIMEOUT. */
FULT_API int fult_latch_timedwait(fult_latch_t latch, int64_t nanoseconds);

/** An event, set and reset by hand. */
typedef struct fult_event *fult_event_t;
/** Creates an event. FULT_ERR_NO_MEMORY. */
FULT_API int fult_event_create(fult_event_t *event);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_event_destroy(fult_event_t event);
/** Wakes all waiters; later waits return at once until reset. */
FULT_API int fult_event_set(fult_event_t event);
/** Makes later waits block. */
FULT_API int fult_event_reset(fult_event_t event);
/** Waits until it is set. */
FULT_API int fult_event_wait(fult_event_t event);
/** The same, for at most the given time. FULT_ERR_TIMEOUT. */
FULT_API int fult_event_timedwait(fult_event_t event, int64_t nanoseconds);

/** Calls the function once. */
typedef struct fult_once *fult_once_t;
/** Creates a flag. FULT_ERR_NO_MEMORY. */
FULT_API int fult_once_create(fult_once_t *once);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_once_destroy(fult_once_t once);
/** Calls function(argument), unless a call with this object has returned before; waits for a concurrent
 * call. */
FULT_API int fult_once_call(fult_once_t once, void (*function)(void *), void *argument);

/** A word with a full/empty bit; initially empty. The pointers that receive a value may be NULL. */
typedef struct fult_feb *fult_feb_t;
/** Creates an empty word. FULT_ERR_NO_MEMORY. */
FULT_API int fult_feb_create(fult_feb_t *feb);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_feb_destroy(fult_feb_t feb);
/** Waits until it is full, and leaves it full. */
FULT_API int fult_feb_readFF(fult_feb_t feb, uint64_t *value);
/** Waits until it is full, and leaves it empty. */
FULT_API int fult_feb_readFE(fult_feb_t feb, uint64_t *value);
/** Waits until it is empty, and leaves it full. */
FULT_API int fult_feb_writeEF(fult_feb_t feb, uint64_t value);
/** Writes in any state, and leaves it full. */
FULT_API int fult_feb_writeF(fult_feb_t feb, uint64_t value);
/** As readFF, if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_feb_try_readFF(fult_feb_t feb, uint64_t *value);
/** As readFE, if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_feb_try_readFE(fult_feb_t feb, uint64_t *value);
/** As writeEF, if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_feb_try_writeEF(fult_feb_t feb, uint64_t value);
/** Makes it full with its present value. */
FULT_API int fult_feb_fill(fult_feb_t feb);
/** Makes it empty. */
FULT_API int fult_feb_purge(fult_feb_t feb);
/** Returns 1 if it is full, else 0; 0 for NULL. */
FULT_API int fult_feb_is_full(fult_feb_t feb);

/** A channel of pointers. */
typedef struct fult_channel *fult_channel_t;
/** Creates a channel with the given capacity; with 0, a sender waits for its receiver. FULT_ERR_NO_MEMORY. */
FULT_API int fult_channel_create(fult_channel_t *channel, size_t capacity);
/** Frees it. There must be no users and no waiters. */
FULT_API int fult_channel_destroy(fult_channel_t channel);
/** Waits for room, and sends. FULT_ERR_CLOSED. */
FULT_API int fult_channel_send(fult_channel_t channel, void *value);
/** Sends if that needs no wait. FULT_ERR_BUSY, FULT_ERR_CLOSED. */
FULT_API int fult_channel_trysend(fult_channel_t channel, void *value);
/** Waits for at most the given time. FULT_ERR_TIMEOUT, FULT_ERR_CLOSED. */
FULT_API int fult_channel_timedsend(fult_channel_t channel, void *value, int64_t nanoseconds);
/** Waits for a value. FULT_ERR_CLOSED: closed and drained. */
FULT_API int fult_channel_receive(fult_channel_t channel, void **value);
/** Receives if that needs no wait. FULT_ERR_BUSY, FULT_ERR_CLOSED. */
FULT_API int fult_channel_tryreceive(fult_channel_t channel, void **value);
/** Waits for at most the given time. FULT_ERR_TIMEOUT, FULT_ERR_CLOSED. */
FULT_API int fult_channel_timedreceive(fult_channel_t channel, void **value, int64_t nanoseconds);
/** Closes the channel: nothing can be sent any more, remaining values can still be received. All waiters
 * return. */
FULT_API int fult_channel_close(fult_channel_t channel);

#ifdef __cplusplus
}
#endif

#endif
