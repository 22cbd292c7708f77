/* The front door in C: tasks, their results, wait and signal. Contracts as in the C++ headers, which name the
 * sources.
 *
 * Functions that return int return 0 or one of the statuses below; fult_strerror tells what a status means
 * and what to do. */
#ifndef FULT_FULT_H
#define FULT_FULT_H

#include <stddef.h>
#include <stdint.h>

#ifndef FULT_API
#define FULT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return. */
enum fult_status {
    FULT_SUCCESS = 0,        /* done */
    FULT_ERR_NO_RUNTIME = 1, /* fult_init has not been called, or fult_finalize has */
    FULT_ERR_RUNNING = 2,    /* a runtime runs already */
    FULT_ERR_NO_MEMORY = 3,  /* memory, threads, stacks or task slots ran out; nothing was started */
    FULT_ERR_INVALID = 4,    /* an argument or an option is out of its range */
    FULT_ERR_NOT_A_TASK = 5, /* the call is for tasks, and a foreign thread made it */
    FULT_ERR_TIMEOUT = 6,    /* the time has passed */
    FULT_ERR_BUSY = 7,       /* a call that does not wait would have to */
    FULT_ERR_CLOSED = 8      /* the channel is closed */
};

/* Names a spawned task until it is joined or detached. */
typedef struct fult_task *fult_task_t;

/* What a task runs: its argument comes from who spawns it, its result goes to who joins it. */
typedef void *(*fult_function_t)(void *argument);

/* How a runtime is set up. Start from FULT_CONFIG_INIT. */
typedef struct fult_config {
    size_t size;       /* sizeof(fult_config): lets the structure grow */
    unsigned workers;  /* 0: FULT_WORKERS, or one a usable processor */
    int bind;          /* 1, 0, or -1: FULT_BIND */
    size_t stack_size; /* bytes; 0: FULT_STACK_SIZE */
} fult_config;
/* Leaves everything to the environment and the defaults. */
#define FULT_CONFIG_INIT \
    { sizeof(fult_config), 0, -1, 0 }

/* What may be asked for a task beyond its function. Start from FULT_SPAWN_ATTR_INIT. */
typedef struct fult_spawn_attr {
    size_t size;       /* sizeof(fult_spawn_attr) */
    const char *name;  /* shown in reports; copied; NULL: none */
    size_t stack_size; /* bytes; 0: ordinary */
    int worker;        /* its home; -1: where it is spawned */
    int pinned;        /* nonzero: runs on its home worker only */
} fult_spawn_attr;
/* An ordinary task. */
#define FULT_SPAWN_ATTR_INIT \
    { sizeof(fult_spawn_attr), NULL, 0, -1, 0 }

/* Starts the workers; the calling thread becomes worker 0 and its program the main task. config may be NULL.
 * From a foreign thread; does not suspend. FULT_ERR_RUNNING, FULT_ERR_NO_MEMORY, FULT_ERR_INVALID. */
FULT_API int fult_init(const fult_config *config);

/* Waits for all tasks, detached ones included, and ends the workers. From the main task; ends the program
 * elsewhere. Suspends. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_finalize(void);

/* Starts function(argument) as a task. *task receives its name, to be joined or detached; with task == NULL
 * it is detached from the beginning. From any thread; does not suspend but where the table of tasks is nearly
 * full, as fult::spawn. FULT_ERR_NO_RUNTIME, FULT_ERR_NO_MEMORY; *task is untouched then. */
FULT_API int fult_spawn(fult_task_t *task, fult_function_t function, void *argument);

/* The same with attributes, which may be NULL. Also FULT_ERR_INVALID: no such worker. */
FULT_API int fult_spawn_with(fult_task_t *task, fult_function_t function, void *argument,
                             const fult_spawn_attr *attr);

/* Waits for the task's end; *result, if result is not NULL, receives what its function returned. The name is
 * dead afterwards. From a task (suspends it) or a foreign thread (blocks it). FULT_ERR_INVALID: task is NULL.
 */
FULT_API int fult_join(fult_task_t task, void **result);

/* Joins `count` tasks with one wake-up; results, if not NULL, receives what they returned, in order. */
FULT_API int fult_join_all(fult_task_t *tasks, size_t count, void **results);

/* Lets the task go. From any thread; does not suspend. FULT_ERR_INVALID: task is NULL. */
FULT_API int fult_detach(fult_task_t task);

/* Waits until one of the tasks has ended; *first is its index, and count where all are NULL. All remain to be
 * joined; NULL ones are passed over. From a task (suspends it) or a foreign thread (blocks it).
 * FULT_ERR_INVALID; FULT_ERR_NO_MEMORY, FULT_ERR_NO_RUNTIME on a foreign thread, for which a task waits. */
FULT_API int fult_wait_any(const fult_task_t *tasks, size_t count, size_t *first);

/* Tasks that are waited for together, of which the first failure stops the rest. */
typedef struct fult_group *fult_group_t;

/* *group receives an empty one. From any thread; does not suspend. FULT_ERR_INVALID, FULT_ERR_NO_MEMORY. */
FULT_API int fult_group_create(fult_group_t *group);

/* Waits for its tasks, then frees it; failures that no wait has told are dropped. From a task (suspends it)
 * or a foreign thread (blocks it). FULT_ERR_INVALID: group is NULL; so in all that follow. */
FULT_API int fult_group_destroy(fult_group_t group);

/* Starts function(argument) as a task of the group. What it returns is NULL, or tells of a failure, which
 * stops the group: tasks that have not begun then are not run. From any thread, but while a wait runs from
 * tasks of the group alone; does not suspend. FULT_ERR_NO_RUNTIME, FULT_ERR_NO_MEMORY. */
FULT_API int fult_group_spawn(fult_group_t group, fult_function_t function, void *argument);

/* The same with attributes, which may be NULL. */
FULT_API int fult_group_spawn_with(fult_group_t group, fult_function_t function, void *argument,
                                   const fult_spawn_attr *attr);

/* Waits until all tasks of the group have ended; *failure, if failure is not NULL, receives the first of
 * their results that is not NULL, or NULL. Afterwards the group is as new. From a task (suspends it) or a
 * foreign thread (blocks it); one at a time, and not from a task of the group. */
FULT_API int fult_group_wait(fult_group_t group, void **failure);

/* Asks the tasks to stop. From any thread; does not suspend. */
FULT_API int fult_group_request_stop(fult_group_t group);

/* Whether a stop was requested: 1 or 0. From any thread; does not suspend. */
FULT_API int fult_group_stop_requested(fult_group_t group);

/* A key, under which each task has a pointer of its own, NULL at first. Foreign threads have theirs as well.
 */
typedef uint64_t fult_key_t;

/* *key receives a new one. destructor, if not NULL, gets what is not NULL at a task's end, on that task, and
 * may suspend. At most 1,024 keys. From any thread; does not suspend. FULT_ERR_INVALID; FULT_ERR_NO_MEMORY:
 * too many. */
FULT_API int fult_key_create(fult_key_t *key, void (*destructor)(void *));

/* Ends the key; values that tasks still have are dropped. From any thread; does not suspend.
 * FULT_ERR_INVALID: no such key. */
FULT_API int fult_key_delete(fult_key_t key);

/* Sets the caller's value; what was there before is not destroyed. From any thread; does not suspend.
 * FULT_ERR_INVALID: no such key; FULT_ERR_NO_MEMORY. */
FULT_API int fult_setspecific(fult_key_t key, const void *value);

/* The caller's value; NULL where there is none, or no such key. From any thread; does not suspend. */
FULT_API void *fult_getspecific(fult_key_t key);

/* Lets other ready tasks of this worker run. From a task; may suspend, and go on on another worker.
 * FULT_ERR_NOT_A_TASK. */
FULT_API int fult_yield(void);

/* Suspends until signaled; may return without a signal: while (!condition) fult_wait(); From a task; it may
 * go on on another worker. FULT_ERR_NOT_A_TASK. */
FULT_API int fult_wait(void);

/* The name that a signal goes to; 0 is none. */
typedef uintptr_t fult_task_id_t;

/* The name of a spawned task that is not yet joined; 0 for NULL. From any thread; does not suspend. */
FULT_API fult_task_id_t fult_task_id(fult_task_t task);

/* The name of the calling task; 0 on a foreign thread. Does not suspend. */
FULT_API fult_task_id_t fult_self(void);

/* Makes the task's next or present wait return. From any thread while the runtime runs; one atomic OR; does
 * not suspend. The name is not 0. */
FULT_API void fult_signal(fult_task_id_t task);

/* How many workers there are; 0: no runtime runs. From any thread; does not suspend. */
FULT_API unsigned fult_worker_count(void);

/* The worker that the calling task runs on now; -1 on a foreign thread. Does not suspend. */
FULT_API int fult_worker(void);

/* Writes a report of all tasks to a file descriptor: which there are, what each waits for and where, equal
 * stacks together. From any thread; does not suspend. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_dump_tasks(int descriptor);

/* Gives memory back that a burst of tasks has left behind: idle stacks and the descriptors of tasks that have
 * ended. From any thread; does not suspend. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_trim(void);

/* A sentence that tells what a status means and what to do; never NULL. From any thread. */
FULT_API const char *fult_strerror(int status);

/* Why a call of fult.h, sync.h or blocking.h has last failed on the calling thread: names the call and its
 * argument, or the option and its value. BUSY, TIMEOUT and CLOSED are no failures and leave it as it is; ""
 * after a fult_init or spawn that succeeded. Never NULL; changes with the next such call of the thread. From
 * any thread; does not suspend: a task calls it right after what failed. */
FULT_API const char *fult_last_error(void);

/* The version of the library, as "0.1.0". From any thread. */
FULT_API const char *fult_version(void);

#ifdef __cplusplus
}
#endif

#endif
