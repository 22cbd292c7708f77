#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <fult/blocking.h>

#include "tests/support/check.h"

static int ends[2];

static void *read_one(void *argument) {
    char *c = argument;
    if (read(ends[0], c, 1) != 1)
        return NULL;
    errno = EILSEQ;
    return c;
}

static void *reader(void *argument) {
    char c = 0;
    void *result = NULL;
    (void)argument;
    CHECK(fult_blocking(read_one, &c, &result) == FULT_SUCCESS);
    CHECK(errno == EILSEQ);
    CHECK(result == &c && c == 'a');
    return NULL;
}

static void *waiter(void *argument) {
    char c = 0;
    (void)argument;
    CHECK(fult_wait_readable(ends[0], -1) == FULT_SUCCESS);
    CHECK(read(ends[0], &c, 1) == 1 && c == 'b');
    return NULL;
}

static void *waits_for_close(void *argument) {
    (void)argument;
    int status = fult_wait_readable(ends[0], -1);
    CHECK(status == FULT_ERR_CLOSED || status == FULT_ERR_INVALID); /* closed while it waited, or before */
    return NULL;
}

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // time: a lower bound
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(void) {
    fult_config config = FULT_CONFIG_INIT;
    fult_task_t task;
    config.workers = 1;
    config.bind = 0;
    CHECK(fult_init(&config) == FULT_SUCCESS);

    const long long start = now();
    CHECK(fult_sleep_for(2000000) == FULT_SUCCESS); // time: a lower bound
    CHECK(now() - start >= 2000000);
    CHECK(fult_sleep_for(-1) == FULT_SUCCESS);
    CHECK(fult_sleep_for(INT64_MIN) == FULT_SUCCESS);

    CHECK(pipe(ends) == 0);
    CHECK(fult_spawn(&task, reader, NULL) == FULT_SUCCESS);
    CHECK(fult_yield() == FULT_SUCCESS);
    CHECK(write(ends[1], "a", 1) == 1);
    CHECK(fult_join(task, NULL) == FULT_SUCCESS);
    CHECK(fult_blocking(NULL, NULL, NULL) == FULT_ERR_INVALID);
    CHECK(strcmp(fult_last_error(), "fult_blocking: function is NULL") == 0);

    CHECK(fult_spawn(&task, waiter, NULL) == FULT_SUCCESS);
    CHECK(fult_yield() == FULT_SUCCESS);
    CHECK(fult_wait_writable(ends[1], -1) == FULT_SUCCESS);
    CHECK(fult_wait_writable(ends[1], INT64_MIN) == FULT_SUCCESS);
    CHECK(fult_wait_writable(ends[1], INT64_MAX) == FULT_SUCCESS);
    CHECK(write(ends[1], "b", 1) == 1);
    CHECK(fult_join(task, NULL) == FULT_SUCCESS);
    CHECK(fult_wait_readable(ends[0], 0) == FULT_ERR_TIMEOUT);
    CHECK(fult_wait_readable(ends[0], 1000000) == FULT_ERR_TIMEOUT);
    CHECK(fult_trim() == FULT_SUCCESS && fult_wait_readable(-1, -1) == FULT_ERR_INVALID);
    CHECK(strstr(fult_last_error(), "descriptor") != NULL);

    CHECK(fult_spawn(&task, waits_for_close, NULL) == FULT_SUCCESS);
    CHECK(fult_yield() == FULT_SUCCESS);
    CHECK(fult_close_descriptor(ends[0]) == 0);
    CHECK(fult_join(task, NULL) == FULT_SUCCESS);
    close(ends[1]);
    CHECK(fult_finalize() == FULT_SUCCESS);
    return failures;
}
