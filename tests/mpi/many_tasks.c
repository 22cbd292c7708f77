/* Many tasks in MPI_Recv at once: 10,000 of a rank on two threads, whose messages are sent only when all of
   them have begun to wait; and a ring of 1,000 tasks over all ranks. Without the layer neither ends. On four
   ranks. */
#include "check_mpi.h"

enum { receivers = 10000, players = 1000 };

/* The last send comes first. */
static void receivers_of_one_rank(int rank) {
    static int got[receivers];
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < receivers; ++i)
#pragma omp task firstprivate(i)
            CHECK_MPI(MPI_Recv(&got[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
#pragma omp task
        for (int i = receivers - 1; i >= 0; --i) {
            const int out = i + 1;
            CHECK_MPI(MPI_Send(&out, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
        }
    }
    for (int i = 0; i < receivers; ++i)
        CHECK(got[i] == i + 1);
}

/* Player i of a rank has the ball from player i of the rank before; that of rank 0 gives it to player i + 1
   instead. One ball goes through the hands of all. */
static void ring(int rank, int size) {
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int right = 0, last = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < players; ++i)
#pragma omp task firstprivate(i) shared(right, last)
        {
            int ball = 0;
            if (rank != 0 || i != 0) /* the first one has it */
                CHECK_MPI(MPI_Recv(&ball, 1, MPI_INT, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (ball == i * size + rank)
#pragma omp atomic
                ++right;
            ++ball;
            const int tag = next == 0 ? i + 1 : i;
            if (tag < players)
                CHECK_MPI(MPI_Send(&ball, 1, MPI_INT, next, tag, MPI_COMM_WORLD));
            else
                last = ball;
        }
    }
    CHECK(right == players);
    CHECK(rank != size - 1 || last == players * size);
}

int main(int count, char **arguments) {
    int rank = -1, size = 0;
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (rank == 0)
        receivers_of_one_rank(rank);
    ring(rank, size);
    CHECK_MPI(MPI_Finalize());
    return 0;
}
