/* Waiting for each other, in C: tasks and foreign threads in any mixture. Contracts as in fult/sync.hpp.
 *
 * Every function that returns int returns 0 or a status of fult.h. Functions that wait suspend a task and
 * block a foreign thread; all others do neither. All are callable from any thread. NULL instead of an object
 * is FULT_ERR_INVALID. What create made is freed by destroy, when nobody uses it any more. Times are
 * relative, in nanoseconds; below 0: without a limit. */
#ifndef FULT_SYNC_H
#define FULT_SYNC_H

#include <stdint.h>

#include <fult/fult.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A lock, first come, first served. */
typedef struct fult_qlock *fult_qlock_t;
/* Makes one. FULT_ERR_NO_MEMORY. */
FULT_API int fult_qlock_create(fult_qlock_t *lock);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_qlock_destroy(fult_qlock_t lock);
/* Waits for it. */
FULT_API int fult_qlock_lock(fult_qlock_t lock);
/* Takes it if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_qlock_trylock(fult_qlock_t lock);
/* Waits for so long at most. FULT_ERR_TIMEOUT. */
FULT_API int fult_qlock_timedlock(fult_qlock_t lock, int64_t nanoseconds);
/* Lets the next one have it. By its owner. */
FULT_API int fult_qlock_unlock(fult_qlock_t lock);

/* A lock for one writer or many readers. */
typedef struct fult_shared_qlock *fult_shared_qlock_t;
/* Makes one. FULT_ERR_NO_MEMORY. */
FULT_API int fult_shared_qlock_create(fult_shared_qlock_t *lock);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_shared_qlock_destroy(fult_shared_qlock_t lock);
/* Waits for it. */
FULT_API int fult_shared_qlock_lock(fult_shared_qlock_t lock);
/* Takes it if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_shared_qlock_trylock(fult_shared_qlock_t lock);
/* Waits for so long at most. FULT_ERR_TIMEOUT. */
FULT_API int fult_shared_qlock_timedlock(fult_shared_qlock_t lock, int64_t nanoseconds);
/* Lets the next one have it. By its owner. */
FULT_API int fult_shared_qlock_unlock(fult_shared_qlock_t lock);
/* Waits for it, as a reader. */
FULT_API int fult_shared_qlock_lock_shared(fult_shared_qlock_t lock);
/* The same if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_shared_qlock_trylock_shared(fult_shared_qlock_t lock);
/* The same, for so long at most. FULT_ERR_TIMEOUT. */
FULT_API int fult_shared_qlock_timedlock_shared(fult_shared_qlock_t lock, int64_t nanoseconds);
/* By a reader that has it. */
FULT_API int fult_shared_qlock_unlock_shared(fult_shared_qlock_t lock);

/* A condition variable, for a fult_qlock_t that its waiter has locked. */
typedef struct fult_cond *fult_cond_t;
/* Makes one. FULT_ERR_NO_MEMORY. */
FULT_API int fult_cond_create(fult_cond_t *cond);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_cond_destroy(fult_cond_t cond);
/* Unlocks the lock, waits for a signal, locks it again. */
FULT_API int fult_cond_wait(fult_cond_t cond, fult_qlock_t lock);
/* The same, for so long at most. FULT_ERR_TIMEOUT; the lock is locked in any case. */
FULT_API int fult_cond_timedwait(fult_cond_t cond, fult_qlock_t lock, int64_t nanoseconds);
/* Lets the first waiter go on. */
FULT_API int fult_cond_signal(fult_cond_t cond);
/* Lets all go on that wait now. */
FULT_API int fult_cond_broadcast(fult_cond_t cond);

/* A barrier for so many participants, at least 1. wait stores 1 to *last, if last is not NULL, for the one
 * that came last, 0 for the others. */
typedef struct fult_barrier *fult_barrier_t;
/* Makes one for so many participants. FULT_ERR_INVALID for 0, FULT_ERR_NO_MEMORY. */
FULT_API int fult_barrier_create(fult_barrier_t *barrier, size_t participants);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_barrier_destroy(fult_barrier_t barrier);
/* Waits until all are there. Stores 1 to *last for the one that came last, 0 for the others; last may
 * be NULL. */
FULT_API int fult_barrier_wait(fult_barrier_t barrier, int *last);

/* A counting semaphore. */
typedef struct fult_sem *fult_sem_t;
/* Makes one with so many to be acquired. FULT_ERR_NO_MEMORY. */
FULT_API int fult_sem_create(fult_sem_t *sem, size_t count);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_sem_destroy(fult_sem_t sem);
/* Waits for one. */
FULT_API int fult_sem_acquire(fult_sem_t sem);
/* Takes one if there is one. FULT_ERR_BUSY. */
FULT_API int fult_sem_tryacquire(fult_sem_t sem);
/* Waits for so long at most. FULT_ERR_TIMEOUT. */
FULT_API int fult_sem_timedacquire(fult_sem_t sem, int64_t nanoseconds);
/* Gives so many back. */
FULT_API int fult_sem_release(fult_sem_t sem, size_t count);

/* A latch. */
typedef struct fult_latch *fult_latch_t;
/* Makes one that opens after so many. FULT_ERR_NO_MEMORY. */
FULT_API int fult_latch_create(fult_latch_t *latch, size_t count);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_latch_destroy(fult_latch_t latch);
/* Counts so many. More than are left end the program. */
FULT_API int fult_latch_count_down(fult_latch_t latch, size_t count);
/* Waits until the count is zero. */
FULT_API int fult_latch_wait(fult_latch_t latch);
/* The same, for so long at most. FULT_ERR_TIMEOUT. */
FULT_API int fult_latch_timedwait(fult_latch_t latch, int64_t nanoseconds);

/* An event, set and reset by hand. */
typedef struct fult_event *fult_event_t;
/* Makes one. FULT_ERR_NO_MEMORY. */
FULT_API int fult_event_create(fult_event_t *event);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_event_destroy(fult_event_t event);
/* Lets all go on that wait now, and all that come until reset. */
FULT_API int fult_event_set(fult_event_t event);
/* From now on who comes waits. */
FULT_API int fult_event_reset(fult_event_t event);
/* Waits until it is set. */
FULT_API int fult_event_wait(fult_event_t event);
/* The same, for so long at most. FULT_ERR_TIMEOUT. */
FULT_API int fult_event_timedwait(fult_event_t event, int64_t nanoseconds);

/* Calls the function once. */
typedef struct fult_once *fult_once_t;
/* Makes one. FULT_ERR_NO_MEMORY. */
FULT_API int fult_once_create(fult_once_t *once);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_once_destroy(fult_once_t once);
/* Calls function(argument), unless that was done by this object before; waits for a call that is under
 * way. */
FULT_API int fult_once_call(fult_once_t once, void (*function)(void *), void *argument);

/* A word with a full/empty bit; empty at first. The pointers that receive a value may be NULL. */
typedef struct fult_feb *fult_feb_t;
/* Makes an empty one. FULT_ERR_NO_MEMORY. */
FULT_API int fult_feb_create(fult_feb_t *feb);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_feb_destroy(fult_feb_t feb);
/* Waits until it is full, and leaves it full. */
FULT_API int fult_feb_readFF(fult_feb_t feb, uint64_t *value);
/* Waits until it is full, and leaves it empty. */
FULT_API int fult_feb_readFE(fult_feb_t feb, uint64_t *value);
/* Waits until it is empty, and leaves it full. */
FULT_API int fult_feb_writeEF(fult_feb_t feb, uint64_t value);
/* Writes at once, and leaves it full. */
FULT_API int fult_feb_writeF(fult_feb_t feb, uint64_t value);
/* As readFF, if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_feb_try_readFF(fult_feb_t feb, uint64_t *value);
/* As readFE, if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_feb_try_readFE(fult_feb_t feb, uint64_t *value);
/* As writeEF, if that needs no wait. FULT_ERR_BUSY. */
FULT_API int fult_feb_try_writeEF(fult_feb_t feb, uint64_t value);
/* Full from now on, with the value that it has. */
FULT_API int fult_feb_fill(fult_feb_t feb);
/* Empty from now on. */
FULT_API int fult_feb_purge(fult_feb_t feb);
/* 1 or 0; 0 for NULL. */
FULT_API int fult_feb_is_full(fult_feb_t feb);

/* A channel of pointers. */
typedef struct fult_channel *fult_channel_t;
/* Makes one that holds so many; with 0, a sender waits for its receiver. FULT_ERR_NO_MEMORY. */
FULT_API int fult_channel_create(fult_channel_t *channel, size_t capacity);
/* Frees it. Nobody may use it any more, or wait. */
FULT_API int fult_channel_destroy(fult_channel_t channel);
/* Waits for room, and sends. FULT_ERR_CLOSED. */
FULT_API int fult_channel_send(fult_channel_t channel, void *value);
/* Sends if that needs no wait. FULT_ERR_BUSY, FULT_ERR_CLOSED. */
FULT_API int fult_channel_trysend(fult_channel_t channel, void *value);
/* Waits for so long at most. FULT_ERR_TIMEOUT, FULT_ERR_CLOSED. */
FULT_API int fult_channel_timedsend(fult_channel_t channel, void *value, int64_t nanoseconds);
/* Waits for a value. FULT_ERR_CLOSED: closed, and nothing is left. */
FULT_API int fult_channel_receive(fult_channel_t channel, void **value);
/* Receives if that needs no wait. FULT_ERR_BUSY, FULT_ERR_CLOSED. */
FULT_API int fult_channel_tryreceive(fult_channel_t channel, void **value);
/* Waits for so long at most. FULT_ERR_TIMEOUT, FULT_ERR_CLOSED. */
FULT_API int fult_channel_timedreceive(fult_channel_t channel, void **value, int64_t nanoseconds);
/* Nothing is sent from now on; what is there can still be received. All that wait go on. */
FULT_API int fult_channel_close(fult_channel_t channel);

#ifdef __cplusplus
}
#endif

#endif
