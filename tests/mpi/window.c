/* A rank that waits serves the windows of its memory: without pauses between its polls, since each operation
   of the other rank may need one. First a thread waits, then a task. On two ranks: rank 0 serves, since MPICH
   4.0.2 loses what goes into memory that is not aligned to 16 bytes, as that of rank 1 is here. */
#include "check_mpi.h"

enum { additions = 300 };

static void add_to_other(int rank, MPI_Win window, MPI_Comm comm) {
    const int one = 1;
    if (rank == 1)
        for (int i = 0; i < additions; ++i) {
            CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
            CHECK_MPI(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window));
            CHECK_MPI(MPI_Win_unlock(0, window));
        }
    CHECK_MPI(MPI_Barrier(comm));
}

int main(int count, char **arguments) {
    int rank = -1, *sum = NULL;
    MPI_Win window;
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_MPI(MPI_Win_allocate(sizeof *sum, sizeof *sum, MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &window));
    *sum = 0;
    CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
    add_to_other(rank, window, MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task shared(window)
    add_to_other(rank, window, MPI_COMM_WORLD);
    CHECK(*sum == (rank == 0 ? 2 * additions : 0));
    CHECK_MPI(MPI_Win_free(&window));
    CHECK_MPI(MPI_Finalize());
    return 0;
}
