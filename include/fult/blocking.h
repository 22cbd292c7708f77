/** @file
 * The C interface of sleeping, blocking calls, and waiting for file descriptors. Contracts as in
 * sync/sleep.hpp, blocking.hpp and descriptor.hpp. */
#ifndef FULT_BLOCKING_H
#define FULT_BLOCKING_H

#include <fult/fult.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Suspends the task for at least the given time; blocks a foreign thread. FULT_ERR_NO_MEMORY: it has not
 * waited. */
FULT_API int fult_sleep_for(int64_t nanoseconds);

/** Calls function(argument) on a kernel thread that may block, while the task is suspended and its worker
 * runs other tasks; *result, if result is not NULL, receives its result, and errno is preserved. On a
 * foreign thread: a plain call. FULT_ERR_NO_MEMORY: no thread could be started, nothing was called.
 * FULT_ERR_INVALID: function is NULL. */
FULT_API int fult_blocking(fult_function_t function, void *argument, void **result);

/** Suspends the task until the descriptor is readable or has failed, for at most `nanoseconds` unless that
 * is negative; blocks a foreign thread. FULT_ERR_TIMEOUT, FULT_ERR_CLOSED: by fult_close_descriptor,
 * FULT_ERR_INVALID: it is not open, FULT_ERR_NO_MEMORY. */
FULT_API int fult_wait_readable(int descriptor, int64_t nanoseconds);

/** The same, until it is writable. */
FULT_API int fult_wait_writable(int descriptor, int64_t nanoseconds);

/** Ends the waits of tasks for the descriptor, then closes it. Returns the result of close(2) and sets
 * errno. From any thread; does not suspend. */
FULT_API int fult_close_descriptor(int descriptor);

#ifdef __cplusplus
}
#endif

#endif
