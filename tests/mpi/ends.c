/* A rank that ends while tasks of all ranks wait for messages that never come: by MPI_Abort of a task, or by
 * a signal. Each rank leaves a file when all its tasks have begun to wait, another one when it ends, and a
 * third one, which is an error, if one of their calls returns.
 *
 * usage: ends abort|kill FOLDER */
#include <signal.h>
#include <string.h>

#include "check_mpi.h"

enum { receivers = 20 };

static void leave_file(const char *folder, const char *what, int rank) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s-%d", folder, what, rank);
    FILE *file = fopen(path, "w");
    CHECK(file && fclose(file) == 0);
}

static void receive(int tag, const char *folder, int rank) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    leave_file(folder, "returned", rank);
}

int main(int count, char **arguments) {
    int rank = -1, begun = 0;
    CHECK(count > 2);
    const int by_abort = strcmp(arguments[1], "abort") == 0;
    const char *const folder = arguments[2];
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < receivers; ++i)
#pragma omp task firstprivate(i) shared(begun)
        {
#pragma omp atomic
            ++begun;
            receive(i, folder, rank);
        }
#pragma omp task shared(begun)
        {
            for (int now = 0; now < receivers;) { /* without the layer forever */
#pragma omp taskyield
#pragma omp atomic read
                now = begun;
            }
            leave_file(folder, "waits", rank);
            CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (rank == 1)
                leave_file(folder, "ends", rank);
            if (rank == 1 && by_abort)
                MPI_Abort(MPI_COMM_WORLD, 3);
            else if (rank == 1)
                raise(SIGKILL);
        }
    }
    leave_file(folder, "returned", rank);
    return 0;
}
