/* A tool of the profiling interface that is linked with the program: its calls of PMPI_ suspend tasks, too.
 */
#include "sends_to_itself.h"

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
    int rank = -1;
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    sends_to_itself(rank);
    CHECK(sends == pairs && receives == pairs);
    CHECK_MPI(MPI_Finalize());
    return 0;
}
