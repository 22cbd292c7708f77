/**
 * @file
 * MPI operations whose completion is awaited by no call: a function is called, or the event of a detached
 * OpenMP task is fulfilled. For programs that are linked with fult-mpi (docs/mpi.md); include it after or
 * before <mpi.h> and <omp.h>.
 */
#ifndef FULT_MPI_H
#define FULT_MPI_H

#include <mpi.h>
#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Called with the argument that was given for it when the operations are complete: on any thread. It must
   not suspend and must not call MPI. */
typedef void (*fult_mpi_done)(uintptr_t argument);

/** Calls done(argument) once the request is complete, possibly before it returns. The request is
   MPI_REQUEST_NULL afterwards: the layer owns it. The status, unless it is MPI_STATUS_IGNORE, must remain
   until then; it has the error in MPI_ERROR. Returns MPI_SUCCESS, or MPI_ERR_NO_MEM: then the request is
   still the program's. From any task or thread between MPI_Init and MPI_Finalize; does not suspend. */
int fult_mpi_on_completion(MPI_Request *request, MPI_Status *status, fult_mpi_done done, uintptr_t argument);

/** The same for several requests, some of which may be MPI_REQUEST_NULL: calls done(argument) once all are
   complete. Each status has the error of its request in MPI_ERROR, unless statuses is MPI_STATUSES_IGNORE. */
int fult_mpi_on_completion_of_all(int count, MPI_Request requests[], MPI_Status statuses[],
                                  fult_mpi_done done, uintptr_t argument);

#ifdef _OPENMP
/** Fulfils the event of a task with a detach clause once the request is complete: the task and what depends
   on it completes then, and its buffers are ready. As fult_mpi_on_completion. */
static inline int fult_mpi_iwait(MPI_Request *request, MPI_Status *status, omp_event_handle_t event) {
    return fult_mpi_on_completion(request, status, (fult_mpi_done)omp_fulfill_event, (uintptr_t)event);
}

/** The same once all of several requests are complete. As fult_mpi_on_completion_of_all. */
static inline int fult_mpi_iwaitall(int count, MPI_Request requests[], MPI_Status statuses[],
                                    omp_event_handle_t event) {
    return fult_mpi_on_completion_of_all(count, requests, statuses, (fult_mpi_done)omp_fulfill_event,
                                         (uintptr_t)event);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
