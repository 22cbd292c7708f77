/* Ssend tasks and the Recv tasks of the same rank in one team: the sends come first, more than there are
 * threads. */
#ifndef FULT_TESTS_SENDS_TO_ITSELF_H
#define FULT_TESTS_SENDS_TO_ITSELF_H

#include "check_mpi.h"

enum { pairs = 50 };

static void sends_to_itself(int rank) {
    int got[pairs];
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < pairs; ++i)
#pragma omp task firstprivate(i)
            CHECK_MPI(MPI_Ssend(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
        for (int i = 0; i < pairs; ++i)
#pragma omp task firstprivate(i) shared(got)
            CHECK_MPI(MPI_Recv(&got[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < pairs; ++i)
        CHECK(got[i] == i);
}

#endif
