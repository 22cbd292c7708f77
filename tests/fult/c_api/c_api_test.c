/* The C interface from C, in one program: returns the number of failed checks. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fult/fult.h>

#include "tests/support/check.h"

static void *same(void *argument) { return argument; }

static void *yields(void *argument) {
    CHECK(fult_yield() == FULT_SUCCESS);
    return argument;
}

static void *fib(void *argument) {
    const intptr_t n = (intptr_t)argument;
    if (n < 2)
        return argument;
    fult_task_t left;
    CHECK(fult_spawn(&left, fib, (void *)(n - 1)) == FULT_SUCCESS);
    const intptr_t right = (intptr_t)fib((void *)(n - 2));
    void *result;
    CHECK(fult_join(left, &result) == FULT_SUCCESS);
    return (void *)((intptr_t)result + right);
}

struct flag {
    volatile int set;
    fult_task_id_t owner;
};

static void *waits(void *argument) {
    struct flag *f = argument;
    while (!__atomic_load_n(&f->set, __ATOMIC_ACQUIRE))
        CHECK(fult_wait() == FULT_SUCCESS);
    return (void *)fult_self();
}

static void *adds(void *argument) {
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *which_worker(void *argument) {
    (void)argument;
    fult_yield();
    return (void *)(intptr_t)fult_worker();
}

static void *check_stack(void *argument) {
    void *low;
    size_t size;
    CHECK(fult_stack(&low, &size) == FULT_SUCCESS);
    CHECK((char *)&low > (char *)low && (char *)&low < (char *)low + size);
    CHECK(fult_stack(NULL, &size) == FULT_ERR_INVALID && fult_stack(&low, NULL) == FULT_ERR_INVALID);
    return argument;
}

static void *on_a_foreign_thread(void *argument) {
    void *result = NULL;
    fult_task_t t;
    CHECK(fult_self() == 0);
    CHECK(fult_worker() == -1);
    void *low;
    size_t size;
    CHECK(fult_stack(&low, &size) == FULT_ERR_NOT_A_TASK);
    CHECK(fult_yield() == FULT_ERR_NOT_A_TASK);
    CHECK(fult_wait() == FULT_ERR_NOT_A_TASK);
    CHECK(fult_spawn(&t, yields, &t) == FULT_SUCCESS);
    CHECK(fult_join(t, &result) == FULT_SUCCESS);
    CHECK(result == &t);
    __atomic_store_n((int *)argument, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void check_without_a_runtime(void) {
    fult_task_t t = NULL;
    CHECK(fult_worker_count() == 0);
    CHECK(fult_worker() == -1);
    CHECK(fult_self() == 0);
    CHECK(fult_spawn(&t, same, NULL) == FULT_ERR_NO_RUNTIME);
    CHECK(t == NULL);
    CHECK(fult_finalize() == FULT_ERR_NO_RUNTIME);
    CHECK(fult_yield() == FULT_ERR_NOT_A_TASK);
    CHECK(fult_join(NULL, NULL) == FULT_ERR_INVALID);
    CHECK(fult_detach(NULL) == FULT_ERR_INVALID);
    CHECK(fult_task_id(NULL) == 0);
}

static void check_results(void) {
    fult_task_t t;
    void *result = NULL;
    CHECK(fult_spawn(&t, same, (void *)(intptr_t)-5) == FULT_SUCCESS);
    CHECK(fult_join(t, &result) == FULT_SUCCESS);
    CHECK((intptr_t)result == -5);
    CHECK(fult_spawn(&t, same, (void *)(uintptr_t)0x8765432112345678u) == FULT_SUCCESS);
    CHECK(fult_join(t, &result) == FULT_SUCCESS);
    CHECK((uintptr_t)result == 0x8765432112345678u);
    CHECK(fult_spawn(&t, same, NULL) == FULT_SUCCESS);
    CHECK(fult_join(t, NULL) == FULT_SUCCESS);
    CHECK((intptr_t)fib((void *)(intptr_t)15) == 610);
    CHECK(fult_spawn(&t, NULL, NULL) == FULT_ERR_INVALID);
    CHECK(strstr(fult_last_error(), "function") != NULL);
}

static void check_many(void) {
    enum { count = 300 };
    fult_task_t tasks[count];
    void *results[count];
    for (intptr_t i = 0; i < count; ++i)
        CHECK(fult_spawn(&tasks[i], i % 2 ? yields : same, (void *)i) == FULT_SUCCESS);
    CHECK(fult_join_all(tasks, count, results) == FULT_SUCCESS);
    for (intptr_t i = 0; i < count; ++i)
        CHECK((intptr_t)results[i] == i);
    CHECK(fult_join_all(NULL, 0, NULL) == FULT_SUCCESS);
    CHECK(fult_join_all(NULL, 1, NULL) == FULT_ERR_INVALID);
}

static void check_wait_and_signal(void) {
    struct flag f = {0, 0};
    fult_task_t t;
    void *result;
    CHECK(fult_spawn(&t, waits, &f) == FULT_SUCCESS);
    const fult_task_id_t id = fult_task_id(t);
    fult_yield();
    __atomic_store_n(&f.set, 1, __ATOMIC_RELEASE);
    fult_signal(id);
    CHECK(fult_join(t, &result) == FULT_SUCCESS);
    CHECK((fult_task_id_t)result == id);
}

static void check_attributes(void) {
    fult_spawn_attr attr = FULT_SPAWN_ATTR_INIT;
    fult_task_t t;
    void *result;
    attr.name = "named";
    attr.stack_size = 1 << 20;
    attr.worker = 1;
    attr.pinned = 1;
    CHECK(fult_spawn_with(&t, which_worker, NULL, &attr) == FULT_SUCCESS);
    CHECK(fult_join(t, &result) == FULT_SUCCESS);
    CHECK((intptr_t)result == 1);
    attr.worker = 99;
    CHECK(fult_spawn_with(&t, same, NULL, &attr) == FULT_ERR_INVALID);
    attr.worker = -1;
    attr.size = 1;
    CHECK(fult_spawn_with(&t, same, NULL, &attr) == FULT_ERR_INVALID);
    CHECK(fult_spawn_with(&t, same, NULL, NULL) == FULT_SUCCESS);
    CHECK(fult_join(t, NULL) == FULT_SUCCESS);
}

static void check_detached(void) {
    static int ran;
    fult_task_t t;
    __atomic_store_n(&ran, 0, __ATOMIC_SEQ_CST);
    CHECK(fult_spawn(NULL, adds, &ran) == FULT_SUCCESS);
    CHECK(fult_spawn(&t, adds, &ran) == FULT_SUCCESS);
    CHECK(fult_detach(t) == FULT_SUCCESS);
    CHECK(fult_spawn_with(NULL, adds, &ran, NULL) == FULT_SUCCESS);
    while (__atomic_load_n(&ran, __ATOMIC_SEQ_CST) != 3)
        fult_yield();
}

static void check_foreign(void) {
    int over = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, on_a_foreign_thread, &over) == 0);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        fult_yield();
    pthread_join(thread, NULL);
}

static void *add_to(void *argument) {
    fult_yield();
    __atomic_fetch_add((int *)argument, 1, __ATOMIC_RELAXED);
    return NULL;
}
struct group_and_sum {
    fult_group_t group;
    int *sum;
};
static void *spawn_more(void *argument) {
    struct group_and_sum *with = argument;
    for (int i = 0; i < 10; ++i)
        CHECK(fult_group_spawn(with->group, add_to, with->sum) == FULT_SUCCESS);
    return NULL;
}
static void *fails(void *argument) { return argument; }

static void check_groups(void) {
    int sum = 0;
    void *failure = &sum;
    fult_group_t group = NULL;
    CHECK(fult_group_create(NULL) == FULT_ERR_INVALID);
    CHECK(fult_group_create(&group) == FULT_SUCCESS);
    struct group_and_sum with = {group, &sum};
    for (int i = 0; i < 100; ++i)
        CHECK(fult_group_spawn(group, add_to, &sum) == FULT_SUCCESS);
    fult_spawn_attr attr = FULT_SPAWN_ATTR_INIT;
    attr.name = "in a group";
    CHECK(fult_group_spawn_with(group, spawn_more, &with, &attr) == FULT_SUCCESS);
    CHECK(fult_group_spawn_with(group, add_to, &sum, NULL) == FULT_SUCCESS);
    CHECK(fult_group_spawn(group, NULL, NULL) == FULT_ERR_INVALID);
    CHECK(fult_group_spawn(NULL, add_to, &sum) == FULT_ERR_INVALID);
    CHECK(fult_group_wait(group, &failure) == FULT_SUCCESS && !failure && sum == 111);
    CHECK(fult_group_spawn(group, fails, &sum) == FULT_SUCCESS);
    CHECK(fult_group_wait(group, &failure) == FULT_SUCCESS && failure == &sum);
    CHECK(fult_group_stop_requested(group) == 0);
    CHECK(fult_group_request_stop(group) == FULT_SUCCESS && fult_group_stop_requested(group) == 1);
    CHECK(fult_group_spawn(group, add_to, &sum) == FULT_SUCCESS);
    CHECK(fult_group_wait(group, NULL) == FULT_SUCCESS && sum == 111);
    CHECK(fult_group_spawn(group, add_to, &sum) == FULT_SUCCESS);
    CHECK(fult_group_destroy(group) == FULT_SUCCESS && sum == 112);
    CHECK(fult_group_destroy(NULL) == FULT_ERR_INVALID && fult_group_wait(NULL, NULL) == FULT_ERR_INVALID);
}

static void check_any(void) {
    int sum = 0;
    size_t first = 7;
    fult_task_t tasks[3] = {NULL, NULL, NULL};
    CHECK(fult_wait_any(tasks, 3, &first) == FULT_SUCCESS && first == 3);
    CHECK(fult_wait_any(tasks, 3, NULL) == FULT_ERR_INVALID);
    for (int i = 1; i < 3; ++i)
        CHECK(fult_spawn(&tasks[i], add_to, &sum) == FULT_SUCCESS);
    for (int i = 0; i < 2; ++i) {
        CHECK(fult_wait_any(tasks, 3, &first) == FULT_SUCCESS && (first == 1 || first == 2));
        CHECK(fult_join(tasks[first], NULL) == FULT_SUCCESS);
        tasks[first] = NULL;
    }
    CHECK(sum == 2);
}

/* The text names the option, wherever its value comes from. */
static void check_last_error(void) {
    fult_config config = FULT_CONFIG_INIT;
    fult_task_t t;
    config.workers = 5000;
    CHECK(fult_init(&config) == FULT_ERR_INVALID);
    CHECK(strstr(fult_last_error(), "FULT_WORKERS='5000'") != NULL);
    setenv("FULT_ORDER", "sideways", 1);
    CHECK(fult_init(NULL) == FULT_ERR_INVALID);
    CHECK(strstr(fult_last_error(), "FULT_ORDER='sideways'") != NULL);
    setenv("FULT_ORDER", "", 1);
    CHECK(fult_spawn(&t, same, NULL) == FULT_ERR_NO_RUNTIME);
    CHECK(strstr(fult_last_error(), "no runtime") != NULL);
    config.workers = 1;
    CHECK(fult_init(&config) == FULT_SUCCESS);
    CHECK(fult_last_error()[0] == '\0');
    CHECK(fult_finalize() == FULT_SUCCESS);
    unsetenv("FULT_ORDER");
}

/* Whichever call refuses an argument: the text names both. */
static void check_refused(int status, const char *call, const char *what) {
    CHECK(status == FULT_ERR_INVALID);
    CHECK(strncmp(fult_last_error(), call, strlen(call)) == 0 && fult_last_error()[strlen(call)] == ':');
    CHECK(strstr(fult_last_error(), what) != NULL);
}

static void check_refusals(void) {
    int sum = 0;
    size_t first;
    fult_task_t none = NULL;
    fult_group_t group;
    fult_key_t key;
    fult_spawn_attr attr = FULT_SPAWN_ATTR_INIT;
    attr.size = 1;
    CHECK(fult_group_create(&group) == FULT_SUCCESS);
    CHECK(fult_key_create(&key, NULL) == FULT_SUCCESS);
    CHECK(fult_key_delete(key) == FULT_SUCCESS);
    check_refused(fult_spawn(&none, NULL, NULL), "fult_spawn", "function");
    check_refused(fult_spawn_with(&none, NULL, NULL, &attr), "fult_spawn_with", "function");
    check_refused(fult_spawn_with(&none, same, NULL, &attr), "fult_spawn_with", "attr->size");
    check_refused(fult_join(NULL, NULL), "fult_join", "task");
    check_refused(fult_join_all(NULL, 1, NULL), "fult_join_all", "tasks");
    check_refused(fult_join_all(&none, 1, NULL), "fult_join_all", "tasks");
    check_refused(fult_detach(NULL), "fult_detach", "task");
    check_refused(fult_wait_any(NULL, 1, &first), "fult_wait_any", "tasks");
    check_refused(fult_wait_any(&none, 1, NULL), "fult_wait_any", "first");
    check_refused(fult_group_create(NULL), "fult_group_create", "group");
    check_refused(fult_group_spawn(NULL, add_to, &sum), "fult_group_spawn", "group");
    check_refused(fult_group_spawn(group, NULL, &sum), "fult_group_spawn", "function");
    check_refused(fult_group_spawn_with(NULL, add_to, &sum, &attr), "fult_group_spawn_with", "group");
    check_refused(fult_group_spawn_with(group, NULL, &sum, &attr), "fult_group_spawn_with", "function");
    check_refused(fult_group_spawn_with(group, add_to, &sum, &attr), "fult_group_spawn_with", "attr->size");
    check_refused(fult_group_wait(NULL, NULL), "fult_group_wait", "group");
    check_refused(fult_group_request_stop(NULL), "fult_group_request_stop", "group");
    check_refused(fult_group_destroy(NULL), "fult_group_destroy", "group");
    check_refused(fult_key_create(NULL, NULL), "fult_key_create", "key");
    check_refused(fult_key_delete(key), "fult_key_delete", "key");
    check_refused(fult_setspecific(key, &sum), "fult_setspecific", "key");
    CHECK(fult_group_destroy(group) == FULT_SUCCESS);
}

static void check_refusals_without_a_runtime(void) {
    CHECK(fult_finalize() == FULT_ERR_NO_RUNTIME && strstr(fult_last_error(), "fult_finalize: no runtime"));
    CHECK(fult_trim() == FULT_ERR_NO_RUNTIME && strstr(fult_last_error(), "fult_trim: no runtime"));
    CHECK(fult_dump_tasks(2) == FULT_ERR_NO_RUNTIME &&
          strstr(fult_last_error(), "fult_dump_tasks: no runtime"));
    CHECK(fult_yield() == FULT_ERR_NOT_A_TASK && strstr(fult_last_error(), "fult_yield: "));
    CHECK(fult_wait() == FULT_ERR_NOT_A_TASK && strstr(fult_last_error(), "fult_wait: "));
}

int main(void) {
    check_last_error();
    check_refusals_without_a_runtime();
    for (int round = 0; round < 3; ++round) {
        check_without_a_runtime();
        fult_config config = FULT_CONFIG_INIT;
        config.workers = 2;
        config.bind = 0;
        config.stack_size = 128 * 1024;
        CHECK(fult_init(&config) == FULT_SUCCESS);
        CHECK(fult_init(NULL) == FULT_ERR_RUNNING && strstr(fult_last_error(), "running already"));
        CHECK(fult_worker_count() == 2);
        CHECK(fult_worker() == 0);
        CHECK(fult_self() != 0);
        check_stack(NULL);
        fult_task_t on_its_own;
        CHECK(fult_spawn(&on_its_own, check_stack, NULL) == FULT_SUCCESS);
        CHECK(fult_join(on_its_own, NULL) == FULT_SUCCESS);
        check_results();
        check_many();
        check_wait_and_signal();
        check_attributes();
        check_detached();
        check_foreign();
        check_groups();
        check_any();
        check_refusals();
        CHECK(fult_finalize() == FULT_SUCCESS);
    }
    fult_config bad = FULT_CONFIG_INIT;
    bad.workers = 5000;
    CHECK(fult_init(&bad) == FULT_ERR_INVALID);
    bad.workers = 1;
    bad.size = 3;
    CHECK(fult_init(&bad) == FULT_ERR_INVALID);
    for (int status = -1; status < 10; ++status)
        CHECK(fult_strerror(status) && strlen(fult_strerror(status)) > 3);
    CHECK(strcmp(fult_strerror(FULT_ERR_INVALID), fult_strerror(FULT_ERR_NO_MEMORY)) != 0);
    CHECK(strstr(fult_strerror(64), "fult_comm_strerror") != NULL);
    CHECK(strlen(fult_version()) >= 5);
    printf("%d failures\n", failures);
    return failures != 0;
}
