/* A tool of the profiling interface that is linked with the program: its calls of PMPI_ suspend tasks, too.
 */
#include "check_mpi.h"

enum { pairs = 50 };

static int sends, receives;

int MPI_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
#pragma omp atomic
    ++sends;
    return PMPI_Ssend(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
#pragma omp atomic
    ++receives;
    return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

/* More sends than threads come first. */
int main(int count, char **arguments) {
    int rank = -1, got[pairs];
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
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
    CHECK(sends == pairs && receives == pairs);
    CHECK_MPI(MPI_Finalize());
    return 0;
}
