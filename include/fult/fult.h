/** @file
 * The entry header in C: tasks, their results, wait and signal. Contracts as in the C++ headers, which
 * cite the sources.
 *
 * Functions that return int return 0 or one of the statuses below; fult_strerror describes a status and
 * the remedy. */
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

/** Statuses. */
enum fult_status {
    FULT_SUCCESS = 0,        /**< success */
    FULT_ERR_NO_RUNTIME = 1, /**< fult_init has not been called, or fult_finalize has */
    FULT_ERR_RUNNING = 2,    /**< a runtime is already running */
    FULT_ERR_NO_MEMORY = 3,  /**< memory, threads, stacks or task slots ran out; nothing was started */
    FULT_ERR_INVALID = 4,    /**< an argument or an option is out of its range */
    FULT_ERR_NOT_A_TASK = 5, /**< only a task may make this call */
    FULT_ERR_TIMEOUT = 6,    /**< the time limit was reached */
    FULT_ERR_BUSY = 7,       /**< the call would have to wait */
    FULT_ERR_CLOSED = 8      /**< the channel is closed */
};

/** A handle of a spawned task, valid until it is joined or detached. */
typedef struct fult_task *fult_task_t;

/** The function of a task: gets the argument given at spawn; its result is passed to join. */
typedef void *(*fult_function_t)(void *argument);

/** Configuration of a runtime. Start from FULT_CONFIG_INIT. */
typedef struct fult_config {
    size_t size;       /**< sizeof(fult_config): lets the structure grow */
    unsigned workers;  /**< 0: FULT_WORKERS, or one per usable processor */
    int bind;          /**< 1 (on), 0 (off), or -1: FULT_BIND */
    size_t stack_size; /**< bytes; 0: FULT_STACK_SIZE */
} fult_config;
/** All members at their defaults from the environment. */
#define FULT_CONFIG_INIT \
    { sizeof(fult_config), 0, -1, 0 }

/** Options of a task. Start from FULT_SPAWN_ATTR_INIT. */
typedef struct fult_spawn_attr {
    size_t size;       /**< sizeof(fult_spawn_attr) */
    const char *name;  /**< shown in reports; copied; NULL: none */
    size_t stack_size; /**< bytes; 0: FULT_STACK_SIZE */
    int worker;        /**< its home; -1: the spawning worker */
    int pinned;        /**< nonzero: runs on its home worker only */
} fult_spawn_attr;
/** A task without options. */
#define FULT_SPAWN_ATTR_INIT \
    { sizeof(fult_spawn_attr), NULL, 0, -1, 0 }

/** Starts the workers; the calling thread becomes worker 0, and its program becomes the main task. config
 * may be NULL. From a foreign thread; does not suspend. FULT_ERR_RUNNING, FULT_ERR_NO_MEMORY,
 * FULT_ERR_INVALID. */
FULT_API int fult_init(const fult_config *config);

/** Waits for all tasks, including detached ones, and ends the workers. Must be called by the main task;
 * ends the program otherwise. Suspends. FULT_ERR_NO_RUNTIME; also if the running runtime was not started by
 * fult_init, but by the C++ interface or by OpenMP. */
FULT_API int fult_finalize(void);

/** Starts function(argument) as a task. *task receives its handle, to be joined or detached; if task is
 * NULL, the task is detached. From any thread; suspends only if the table of tasks is nearly full, as
 * fult::spawn. FULT_ERR_NO_RUNTIME, FULT_ERR_NO_MEMORY; *task is not written then. */
FULT_API int fult_spawn(fult_task_t *task, fult_function_t function, void *argument);

/** The same with attributes, which may be NULL. Also FULT_ERR_INVALID: no such worker. */
FULT_API int fult_spawn_with(fult_task_t *task, fult_function_t function, void *argument,
                             const fult_spawn_attr *attr);

/** Waits for the end of the task; *result, if result is not NULL, receives what its function returned. The
 * handle is invalid afterwards: to join or detach it again ends the program. On a task: suspends. On a
 * foreign thread: blocks. FULT_ERR_INVALID: task is NULL. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_join(fult_task_t task, void **result);

/** Joins `count` tasks with one wake-up for each 256; results, if not NULL, receives their results in order.
 * As fult_join. */
FULT_API int fult_join_all(fult_task_t *tasks, size_t count, void **results);

/** Detaches the task; the handle is invalid afterwards, as after fult_join. From any thread; does not
 * suspend. FULT_ERR_INVALID: task is NULL. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_detach(fult_task_t task);

/** Waits until one of the tasks has ended; *first receives its index, or count if all are NULL. All tasks
 * remain to be joined; NULL elements are ignored. On a task: suspends. On a foreign thread: blocks.
 * FULT_ERR_INVALID, FULT_ERR_NO_MEMORY. */
FULT_API int fult_wait_any(const fult_task_t *tasks, size_t count, size_t *first);

/** Tasks that are waited for together; the first failure stops the rest. */
typedef struct fult_group *fult_group_t;

/** *group receives an empty group. From any thread; does not suspend. FULT_ERR_INVALID,
 * FULT_ERR_NO_MEMORY. */
FULT_API int fult_group_create(fult_group_t *group);

/** Waits for its tasks, then frees it; failures that no wait has returned are dropped. On a task:
 * suspends. On a foreign thread: blocks. FULT_ERR_INVALID: group is NULL; so in all that follow. */
FULT_API int fult_group_destroy(fult_group_t group);

/** Starts function(argument) as a task of the group. A result other than NULL is a failure, which stops
 * the group: tasks that have not begun then are not run. From any thread, but during a wait only from
 * tasks of the group; does not suspend. FULT_ERR_NO_RUNTIME, FULT_ERR_NO_MEMORY. */
FULT_API int fult_group_spawn(fult_group_t group, fult_function_t function, void *argument);

/** The same with attributes, which may be NULL. */
FULT_API int fult_group_spawn_with(fult_group_t group, fult_function_t function, void *argument,
                                   const fult_spawn_attr *attr);

/** Waits until all tasks of the group have ended; *failure, if failure is not NULL, receives the first of
 * their results that is not NULL, or NULL. Afterwards the group can be used again. On a task: suspends.
 * On a foreign thread: blocks. One call at a time, and not from a task of the group. */
FULT_API int fult_group_wait(fult_group_t group, void **failure);

/** Requests a stop of the tasks. From any thread; does not suspend. */
FULT_API int fult_group_request_stop(fult_group_t group);

/** Whether a stop was requested: 1 or 0. From any thread; does not suspend. */
FULT_API int fult_group_stop_requested(fult_group_t group);

/** A key of task-local pointers: each task, and each foreign thread, has its own, initially NULL. */
typedef uint64_t fult_key_t;

/** *key receives a new key. destructor, if not NULL, is called with a value that is not NULL at the end of
 * a task, on that task; it may suspend. At most 1,024 keys. From any thread; does not suspend.
 * FULT_ERR_INVALID; FULT_ERR_NO_MEMORY: too many. */
FULT_API int fult_key_create(fult_key_t *key, void (*destructor)(void *));

/** Deletes the key; remaining values are dropped. From any thread; does not suspend. FULT_ERR_INVALID: no
 * such key. */
FULT_API int fult_key_delete(fult_key_t key);

/** Sets the caller's value; the previous one is not destroyed. From any thread; does not suspend.
 * FULT_ERR_INVALID: no such key; FULT_ERR_NO_MEMORY. */
FULT_API int fult_setspecific(fult_key_t key, const void *value);

/** The caller's value; NULL if there is none, or no such key. From any thread; does not suspend. */
FULT_API void *fult_getspecific(fult_key_t key);

/** Lets other ready tasks of this worker run. From a task; may suspend, and may resume on another worker.
 * FULT_ERR_NOT_A_TASK. */
FULT_API int fult_yield(void);

/** Suspends until signaled; may return without a signal: while (!condition) fult_wait(); From a task; may
 * resume on another worker. FULT_ERR_NOT_A_TASK. */
FULT_API int fult_wait(void);

/** The id of a task, to signal it; 0 is none. */
typedef uintptr_t fult_task_id_t;

/** The id of a spawned task that is not joined yet; 0 for NULL. From any thread; does not suspend. */
FULT_API fult_task_id_t fult_task_id(fult_task_t task);

/** The id of the calling task; 0 on a foreign thread. Does not suspend. */
FULT_API fult_task_id_t fult_self(void);

/** Makes the task's next or present wait return. From any thread while the runtime is running; one atomic
 * OR; does not suspend. The id must not be 0. */
FULT_API void fult_signal(fult_task_id_t task);

/** The number of workers; 0: no runtime is running. From any thread; does not suspend. */
FULT_API unsigned fult_worker_count(void);

/** The worker that runs the calling task now; -1 on a foreign thread. Does not suspend. */
FULT_API int fult_worker(void);

/** *low receives the lowest usable address of the stack that runs the calling task now, and *size the bytes
 * from there to its end: for code that looks for pointers on it, or asks how much of it is left. Does not
 * suspend. FULT_ERR_NOT_A_TASK; FULT_ERR_INVALID: one of the arguments is NULL. */
FULT_API int fult_stack(void **low, size_t *size);

/** Writes a report of all tasks to a file descriptor: what each waits for and where, with equal stacks
 * grouped. From any thread; does not suspend. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_dump_tasks(int descriptor);

/** Gives back memory that is idle after a burst of tasks: stacks, and descriptors of tasks that have
 * ended. From any thread; does not suspend. FULT_ERR_NO_RUNTIME. */
FULT_API int fult_trim(void);

/** A sentence that describes the status and the remedy; never NULL. From any thread. */
FULT_API const char *fult_strerror(int status);

/** The reason of the last failure of a call of fult.h, sync.h or blocking.h on the calling thread: names
 * the call and its argument, or the option and its value. BUSY, TIMEOUT and CLOSED are no failures and do
 * not change it; "" after a fult_init or spawn that succeeded. Never NULL; valid until the next such call
 * of the thread. From any thread; does not suspend. A task must call it directly after the failed call. */
FULT_API const char *fult_last_error(void);

/** The version of the library, as "0.1.0". From any thread. */
FULT_API const char *fult_version(void);

#ifdef __cplusplus
}
#endif

#endif
