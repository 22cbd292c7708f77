/* The C interface of sync from C: returns the number of failed checks. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <fult/sync.h>

#include "tests/support/check.h"

enum { parties = 6, rounds = 200, short_time = 2000000 };

static fult_qlock_t lock;
static fult_shared_qlock_t shared;
static fult_cond_t changed;
static fult_barrier_t barrier;
static fult_sem_t sem;
static fult_latch_t latch;
static fult_event_t event;
static fult_once_t once;
static fult_feb_t feb;
static fult_channel_t channel;
static long counter, lasts, once_runs, written;

static void run_once(void *argument) { *(long *)argument += 1; }

static void *party(void *argument) {
    for (int r = 0; r < rounds; ++r) {
        CHECK(fult_qlock_lock(lock) == FULT_SUCCESS);
        ++counter;
        CHECK(fult_qlock_unlock(lock) == FULT_SUCCESS);
        CHECK(fult_sem_acquire(sem) == FULT_SUCCESS);
        CHECK(fult_sem_release(sem, 1) == FULT_SUCCESS);
        CHECK(fult_shared_qlock_lock(shared) == FULT_SUCCESS);
        ++written;
        CHECK(fult_shared_qlock_unlock(shared) == FULT_SUCCESS);
        CHECK(fult_shared_qlock_lock_shared(shared) == FULT_SUCCESS);
        CHECK(fult_shared_qlock_unlock_shared(shared) == FULT_SUCCESS);
        uint64_t value;
        CHECK(fult_feb_readFE(feb, &value) == FULT_SUCCESS);
        CHECK(fult_feb_writeEF(feb, value + 1) == FULT_SUCCESS);
        int last = -1;
        CHECK(fult_barrier_wait(barrier, &last) == FULT_SUCCESS);
        if (last == 1)
            ++lasts; /* ordered by the barrier */
    }
    CHECK(fult_once_call(once, run_once, &once_runs) == FULT_SUCCESS);
    CHECK(fult_latch_count_down(latch, 1) == FULT_SUCCESS);
    CHECK(fult_channel_send(channel, argument) == FULT_SUCCESS);
    CHECK(fult_event_wait(event) == FULT_SUCCESS);
    CHECK(fult_qlock_lock(lock) == FULT_SUCCESS);
    while (counter != 0)
        CHECK(fult_cond_wait(changed, lock) == FULT_SUCCESS);
    CHECK(fult_qlock_unlock(lock) == FULT_SUCCESS);
    return NULL;
}

static void *waits_without_result(void *argument) {
    (void)argument;
    CHECK(fult_qlock_timedlock(lock, short_time) == FULT_ERR_TIMEOUT);
    CHECK(fult_qlock_trylock(lock) == FULT_ERR_BUSY);
    CHECK(fult_shared_qlock_timedlock_shared(shared, short_time) == FULT_ERR_TIMEOUT);
    CHECK(fult_shared_qlock_trylock(shared) == FULT_ERR_BUSY);
    CHECK(fult_shared_qlock_trylock_shared(shared) == FULT_ERR_BUSY);
    CHECK(fult_shared_qlock_timedlock(shared, 0) == FULT_ERR_TIMEOUT);
    CHECK(fult_sem_timedacquire(sem, short_time) == FULT_ERR_TIMEOUT);
    CHECK(fult_sem_tryacquire(sem) == FULT_ERR_BUSY);
    CHECK(fult_event_timedwait(event, short_time) == FULT_ERR_TIMEOUT);
    CHECK(fult_latch_timedwait(latch, short_time) == FULT_ERR_TIMEOUT);
    void *value;
    CHECK(fult_channel_timedreceive(channel, &value, short_time) == FULT_ERR_TIMEOUT);
    CHECK(fult_channel_tryreceive(channel, &value) == FULT_ERR_BUSY);
    CHECK(fult_feb_try_writeEF(feb, 1) == FULT_ERR_BUSY);
    return NULL;
}

static void crowd(void) {
    fult_task_t tasks[parties];
    pthread_t thread;
    for (intptr_t i = 0; i < parties - 1; ++i)
        CHECK(fult_spawn(&tasks[i], party, (void *)(i + 1)) == FULT_SUCCESS);
    CHECK(pthread_create(&thread, NULL, party, (void *)(intptr_t)parties) == 0);
    CHECK(fult_latch_wait(latch) == FULT_SUCCESS);
    CHECK(counter == parties * rounds && written == counter && lasts == rounds && once_runs == 1);
    uint64_t value = 0;
    CHECK(fult_feb_readFF(feb, &value) == FULT_SUCCESS && value == parties * rounds);
    long sum = 0;
    for (int i = 0; i < parties; ++i) {
        void *sent = NULL;
        CHECK(fult_channel_receive(channel, &sent) == FULT_SUCCESS);
        sum += (long)(intptr_t)sent;
    }
    CHECK(sum == parties * (parties + 1) / 2);
    CHECK(fult_event_set(event) == FULT_SUCCESS);
    CHECK(fult_qlock_lock(lock) == FULT_SUCCESS);
    CHECK(fult_cond_timedwait(changed, lock, short_time) == FULT_ERR_TIMEOUT);
    counter = 0;
    CHECK(fult_cond_broadcast(changed) == FULT_SUCCESS);
    CHECK(fult_cond_signal(changed) == FULT_SUCCESS);
    CHECK(fult_qlock_unlock(lock) == FULT_SUCCESS);
    CHECK(fult_join_all(tasks, parties - 1, NULL) == FULT_SUCCESS);
    pthread_join(thread, NULL);
}

static void refused(int status, const char *text) {
    CHECK(status == FULT_ERR_INVALID);
    CHECK(strcmp(fult_last_error(), text) == 0);
}

static void *closing(void *argument) {
    const fult_channel_t to = argument;
    CHECK(fult_channel_trysend(to, argument) == FULT_SUCCESS && fult_channel_close(to) == FULT_SUCCESS);
    return NULL;
}

/* A value that was sent before the close is received before FULT_ERR_CLOSED. */
static void drained_after_the_close(void) {
    for (int i = 0; i < 1000; ++i) {
        fult_channel_t from;
        fult_task_t sender;
        fult_spawn_attr elsewhere = FULT_SPAWN_ATTR_INIT;
        elsewhere.worker = elsewhere.pinned = 1;
        CHECK(fult_channel_create(&from, 1) == FULT_SUCCESS);
        CHECK(fult_spawn_with(&sender, closing, from, &elsewhere) == FULT_SUCCESS);
        void *value = NULL;
        int status = FULT_ERR_BUSY;
        while (status == FULT_ERR_BUSY || status == FULT_ERR_TIMEOUT)
            status = i % 4 == 0 ? fult_channel_timedreceive(from, &value, 0)
                                : fult_channel_tryreceive(from, &value);
        CHECK(status == FULT_SUCCESS && value == from);
        CHECK(fult_join(sender, NULL) == FULT_SUCCESS);
        CHECK(fult_channel_destroy(from) == FULT_SUCCESS);
    }
}

static void *closes(void *argument) {
    CHECK(fult_channel_close(argument) == FULT_SUCCESS);
    return NULL;
}

/* A channel with room is never busy, also while it is closed. */
static void sent_beside_the_close(void) {
    for (int i = 0; i < 3000; ++i) {
        fult_channel_t to;
        fult_task_t closer;
        fult_spawn_attr elsewhere = FULT_SPAWN_ATTR_INIT;
        elsewhere.worker = elsewhere.pinned = 1;
        CHECK(fult_channel_create(&to, 1000) == FULT_SUCCESS);
        CHECK(fult_spawn_with(&closer, closes, to, &elsewhere) == FULT_SUCCESS);
        int status = FULT_SUCCESS;
        for (int k = 0; k < 1000 && status == FULT_SUCCESS; ++k)
            status = fult_channel_trysend(to, &status);
        CHECK(status == FULT_ERR_CLOSED || status == FULT_SUCCESS);
        CHECK(fult_join(closer, NULL) == FULT_SUCCESS);
        CHECK(fult_channel_destroy(to) == FULT_SUCCESS);
    }
}

int main(void) {
    fult_config config = FULT_CONFIG_INIT;
    config.workers = 2;
    config.bind = 0;
    CHECK(fult_init(&config) == FULT_SUCCESS);
    CHECK(fult_qlock_create(&lock) == FULT_SUCCESS && fult_shared_qlock_create(&shared) == FULT_SUCCESS);
    CHECK(fult_cond_create(&changed) == FULT_SUCCESS && fult_sem_create(&sem, 2) == FULT_SUCCESS);
    CHECK(fult_barrier_create(&barrier, 0) == FULT_ERR_INVALID);
    CHECK(fult_barrier_create(&barrier, parties) == FULT_SUCCESS);
    CHECK(fult_latch_create(&latch, parties) == FULT_SUCCESS && fult_event_create(&event) == FULT_SUCCESS);
    CHECK(fult_once_create(&once) == FULT_SUCCESS && fult_feb_create(&feb) == FULT_SUCCESS);
    CHECK(fult_channel_create(&channel, 2) == FULT_SUCCESS);
    uint64_t value;
    CHECK(!fult_feb_is_full(feb) && fult_feb_try_readFF(feb, &value) == FULT_ERR_BUSY);
    CHECK(fult_feb_try_readFE(feb, NULL) == FULT_ERR_BUSY);
    CHECK(fult_feb_writeF(feb, 7) == FULT_SUCCESS && fult_feb_purge(feb) == FULT_SUCCESS);
    CHECK(fult_feb_fill(feb) == FULT_SUCCESS && fult_feb_is_full(feb));
    CHECK(fult_feb_writeF(feb, 0) == FULT_SUCCESS);

    CHECK(fult_qlock_lock(lock) == FULT_SUCCESS && fult_shared_qlock_lock(shared) == FULT_SUCCESS);
    CHECK(fult_sem_acquire(sem) == FULT_SUCCESS && fult_sem_tryacquire(sem) == FULT_SUCCESS);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waits_without_result, NULL) == 0);
    pthread_join(thread, NULL);
    fult_task_t task;
    CHECK(fult_spawn(&task, waits_without_result, NULL) == FULT_SUCCESS &&
          fult_join(task, NULL) == FULT_SUCCESS);
    CHECK(fult_sem_release(sem, 2) == FULT_SUCCESS && fult_shared_qlock_unlock(shared) == FULT_SUCCESS);
    CHECK(fult_qlock_unlock(lock) == FULT_SUCCESS && fult_qlock_timedlock(lock, -1) == FULT_SUCCESS);
    CHECK(fult_qlock_unlock(lock) == FULT_SUCCESS);

    crowd();
    drained_after_the_close();
    sent_beside_the_close();

    CHECK(fult_channel_trysend(channel, &value) == FULT_SUCCESS);
    CHECK(fult_channel_timedsend(channel, &value, 0) == FULT_SUCCESS);
    CHECK(fult_channel_timedsend(channel, &value, short_time) == FULT_ERR_TIMEOUT);
    CHECK(fult_channel_trysend(channel, &value) == FULT_ERR_BUSY);
    CHECK(fult_channel_close(channel) == FULT_SUCCESS);
    CHECK(fult_channel_send(channel, &value) == FULT_ERR_CLOSED);
    void *received = NULL;
    CHECK(fult_channel_receive(channel, &received) == FULT_SUCCESS && received == &value);
    CHECK(fult_channel_tryreceive(channel, NULL) == FULT_SUCCESS);
    CHECK(fult_channel_receive(channel, &received) == FULT_ERR_CLOSED);
    CHECK(fult_event_reset(event) == FULT_SUCCESS && fult_event_timedwait(event, 0) == FULT_ERR_TIMEOUT);

    refused(fult_qlock_lock(NULL), "fult_qlock_lock: the object is NULL");
    refused(fult_qlock_trylock(NULL), "fult_qlock_trylock: the object is NULL");
    refused(fult_qlock_create(NULL), "fult_qlock_create: the pointer to the new object is NULL");
    refused(fult_sem_create(NULL, 1), "fult_sem_create: the pointer to the new object is NULL");
    refused(fult_sem_create(&sem, SIZE_MAX), "fult: a count is too large");
    refused(fult_channel_close(NULL), "fult_channel_close: the object is NULL");
    refused(fult_feb_writeEF(NULL, 1), "fult_feb_writeEF: the object is NULL");
    refused(fult_cond_wait(changed, NULL), "fult_cond_wait: lock is NULL");
    refused(fult_cond_wait(NULL, lock), "fult_cond_wait: the object is NULL");
    refused(fult_cond_timedwait(changed, NULL, 0), "fult_cond_timedwait: lock is NULL");
    refused(fult_once_call(once, NULL, NULL), "fult_once_call: function is NULL");
    refused(fult_event_destroy(NULL), "fult_event_destroy: the object is NULL");
    CHECK(fult_qlock_destroy(lock) == FULT_SUCCESS && fult_shared_qlock_destroy(shared) == FULT_SUCCESS);
    CHECK(fult_cond_destroy(changed) == FULT_SUCCESS && fult_sem_destroy(sem) == FULT_SUCCESS);
    CHECK(fult_barrier_destroy(barrier) == FULT_SUCCESS && fult_latch_destroy(latch) == FULT_SUCCESS);
    CHECK(fult_event_destroy(event) == FULT_SUCCESS && fult_once_destroy(once) == FULT_SUCCESS);
    CHECK(fult_feb_destroy(feb) == FULT_SUCCESS && fult_channel_destroy(channel) == FULT_SUCCESS);
    CHECK(fult_qlock_destroy(NULL) == FULT_ERR_INVALID);
    CHECK(fult_finalize() == FULT_SUCCESS);
    return failures;
}
