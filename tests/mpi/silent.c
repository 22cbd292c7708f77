/* Ranks that wait for each other: three tasks in three calls, and many tasks in one. */
#include "check_mpi.h"

enum { receivers = 20 };

int main(int count, char **arguments) {
    int rank = -1, in = 0;
    const int out = 1;
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        MPI_Recv(&in, 1, MPI_INT, 1 - rank, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
        MPI_Probe(MPI_ANY_SOURCE, 41, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        for (int i = 0; i < receivers; ++i)
#pragma omp task firstprivate(i)
        {
            int got;
            MPI_Recv(&got, 1, MPI_INT, 1 - rank, 50 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
#pragma omp task
        MPI_Ssend(&out, 1, MPI_INT, 1 - rank, 42, MPI_COMM_WORLD);
    }
    return 0; /* not reached */
}
