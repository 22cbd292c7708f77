/* A rank that ends while tasks of all ranks wait for messages that never come: by MPI_Abort of a task, or by
 * a signal. */
#include <signal.h>
#include <string.h>

#include "check_mpi.h"

enum { receivers = 20 };

int main(int count, char **arguments) {
    int rank = -1;
    CHECK(count > 1);
    const int by_abort = strcmp(arguments[1], "abort") == 0;
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < receivers; ++i)
#pragma omp task firstprivate(i)
        {
            int got;
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
#pragma omp task
        {
            CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (rank == 1 && by_abort)
                MPI_Abort(MPI_COMM_WORLD, 3);
            else if (rank == 1)
                raise(SIGKILL);
        }
    }
    return 0; /* not reached */
}
