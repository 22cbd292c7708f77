/* Every blocking call with its answer: by a thread before there are tasks, by one task, and by several tasks
   at the same time, each with a communicator of its own. */
#include "collective_calls.h"
#include "point_to_point_calls.h"

enum { tasks = 4 };

static void check_level(void) {
    int level = -1;
    CHECK_MPI(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_SINGLE); /* as MPI_Init has asked */
}

int main(int count, char **arguments) {
    int rank = -1;
    MPI_Comm comms[tasks];
    CHECK_MPI(MPI_Init(&count, &arguments));
    check_level();
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    const int other = 1 - rank;
    for (int i = 0; i < tasks; ++i)
        CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    send_kinds(rank, other, MPI_COMM_WORLD);
    all_point_to_point_calls(rank, other, MPI_COMM_WORLD);
    all_collective_calls(rank, MPI_COMM_WORLD);
    calls_apart(rank, MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        send_kinds(rank, other, MPI_COMM_WORLD);
        all_point_to_point_calls(rank, other, MPI_COMM_WORLD);
        all_collective_calls(rank, MPI_COMM_WORLD);
        calls_apart(rank, MPI_COMM_WORLD);
        for (int i = 0; i < tasks; ++i)
#pragma omp task firstprivate(i) shared(comms)
        {
            all_point_to_point_calls(rank, other, comms[i]);
            all_collective_calls(rank, comms[i]);
        }
    }
    for (int i = 0; i < tasks; ++i)
        CHECK_MPI(MPI_Comm_free(&comms[i]));
    CHECK_MPI(MPI_Finalize());
    return 0;
}
