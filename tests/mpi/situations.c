/* Situations in which OpenMP programs with MPI do not end, or crash, where a blocking call blocks its thread;
   each comes from a public report: mpi-forum/mpi-issues 75, open-mpi/ompi 7702 and 11428, eth-cscs/DLA-Future
   423. cpp_tasks.cpp has a fifth. */
#include "sends_to_itself.h"

enum { receivers = 1000, rounds = 100 };

/* More tasks in MPI_Recv than threads: the last one gets its message first, and each sends on to the one
 * before. */
static void more_receivers_than_threads(int rank) {
    int right = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < receivers; ++i)
#pragma omp task firstprivate(i) shared(right)
        {
            int ball = -1;
            CHECK_MPI(MPI_Recv(&ball, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (ball == i)
#pragma omp atomic
                ++right;
            if (i > 0) {
                const int on = ball - 1;
                CHECK_MPI(MPI_Send(&on, 1, MPI_INT, rank, i - 1, MPI_COMM_WORLD));
            }
        }
#pragma omp task
        {
            const int first = receivers - 1;
            CHECK_MPI(MPI_Send(&first, 1, MPI_INT, rank, receivers - 1, MPI_COMM_WORLD));
        }
    }
    CHECK(right == receivers);
}

/* Many threads with Isend, Irecv and Wait in a parallel loop. */
static void requests_in_a_loop(int rank, int other) {
    int wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < rounds; ++i) {
        const int out = 1000 * rank + i;
        int in = -1;
        MPI_Request requests[2];
        MPI_Status status;
        CHECK_MPI(MPI_Irecv(&in, 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[0]));
        CHECK_MPI(MPI_Isend(&out, 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[1]));
        CHECK_MPI(MPI_Wait(&requests[0], &status));
        CHECK_MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        wrong += in != 1000 * other + i || status.MPI_TAG != i || requests[0] != MPI_REQUEST_NULL;
    }
    CHECK(wrong == 0);
}

/* A collective of another communicator while tasks of all threads wait for messages that follow it. */
static void collective_while_tasks_wait(int rank, int other) {
    MPI_Comm apart;
    CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &apart));
    int sum = 0, got[pairs];
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < pairs; ++i)
#pragma omp task firstprivate(i) shared(got)
            CHECK_MPI(MPI_Recv(&got[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
#pragma omp task shared(sum)
        {
            const int one = 1;
            CHECK_MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, apart));
            for (int i = 0; i < pairs; ++i)
                CHECK_MPI(MPI_Send(&rank, 1, MPI_INT, other, i, MPI_COMM_WORLD));
        }
    }
    for (int i = 0; i < pairs; ++i)
        CHECK(got[i] == other);
    CHECK(sum == 2);
    CHECK_MPI(MPI_Comm_free(&apart));
}

int main(int count, char **arguments) {
    int provided = -1, rank = -1, size = 0;
    CHECK_MPI(MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size == 2);
    sends_to_itself(rank);
    more_receivers_than_threads(rank);
    requests_in_a_loop(rank, 1 - rank);
    collective_while_tasks_wait(rank, 1 - rank);
    CHECK_MPI(MPI_Finalize());
    return 0;
}
