/* Each blocking collective call once, with its answer. On two ranks. */
#include "check_mpi.h"

static void rooted(int rank, MPI_Comm comm) {
    int value = rank == 1 ? 17 : 0, sum = 0, all[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {1, 0};
    CHECK_MPI(MPI_Bcast(&value, 1, MPI_INT, 1, comm));
    CHECK(value == 17);
    value = rank + 1;
    CHECK_MPI(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 1, comm));
    CHECK(sum == (rank == 1 ? 3 : 0));
    CHECK_MPI(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
    CHECK(rank != 0 || (all[0] == 1 && all[1] == 2));
    CHECK_MPI(MPI_Gatherv(&value, 1, MPI_INT, all, counts, places, MPI_INT, 0, comm));
    CHECK(rank != 0 || (all[0] == 2 && all[1] == 1));
    const int out[2] = {30, 31};
    CHECK_MPI(MPI_Scatter(out, 1, MPI_INT, &value, 1, MPI_INT, 0, comm));
    CHECK(value == 30 + rank);
    CHECK_MPI(MPI_Scatterv(out, counts, places, MPI_INT, &value, 1, MPI_INT, 0, comm));
    CHECK(value == 31 - rank);
}

static void gathered_by_all(int rank, MPI_Comm comm) {
    int all[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {1, 0}, bytes[2] = {sizeof(int), 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    CHECK_MPI(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm));
    CHECK(all[0] == 0 && all[1] == 1);
    CHECK_MPI(MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, comm));
    CHECK(all[0] == 1 && all[1] == 0);
    const int out[2] = {10 * rank, 10 * rank + 1};
    CHECK_MPI(MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, comm));
    CHECK(all[0] == rank && all[1] == 10 + rank);
    CHECK_MPI(MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, comm));
    CHECK(all[1] == 1 - rank && all[0] == 11 - rank);
    CHECK_MPI(MPI_Alltoallw(out, counts, bytes, types, all, counts, bytes, types, comm));
    CHECK(all[1] == 1 - rank && all[0] == 11 - rank);
}

static void reduced_by_all(int rank, MPI_Comm comm) {
    int values[2] = {rank + 1, 10 * (rank + 1)}, result[2] = {-1, -1}, counts[2] = {1, 1};
    CHECK_MPI(MPI_Allreduce(values, result, 2, MPI_INT, MPI_SUM, comm));
    CHECK(result[0] == 3 && result[1] == 30);
    CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, result, 2, MPI_INT, MPI_MAX, comm));
    CHECK(result[0] == 3 && result[1] == 30);
    CHECK_MPI(MPI_Reduce_scatter(values, result, counts, MPI_INT, MPI_SUM, comm));
    CHECK(result[0] == (rank == 0 ? 3 : 30));
    CHECK_MPI(MPI_Reduce_scatter_block(values, result, 1, MPI_INT, MPI_SUM, comm));
    CHECK(result[0] == (rank == 0 ? 3 : 30));
    CHECK_MPI(MPI_Scan(values, result, 1, MPI_INT, MPI_SUM, comm));
    CHECK(result[0] == (rank == 0 ? 1 : 3));
    result[0] = -1;
    CHECK_MPI(MPI_Exscan(values, result, 1, MPI_INT, MPI_SUM, comm));
    CHECK(result[0] == (rank == 0 ? -1 : 1));
}

/* MPICH 4.0 alone exchanges the two blocks, in these forms. */
static int are_blocks_of(int other, const int all[2]) {
#ifndef OPEN_MPI
    if (all[0] == 10 * other && all[1] == 10 * other + 1)
        return 1;
#endif
    return all[0] == 10 * other + 1 && all[1] == 10 * other;
}

/* A ring of two: the neighbour below and the one above are the other rank. */
static void neighbors(int rank, MPI_Comm comm) {
    const int dims[1] = {2}, periods[1] = {1};
    const int other = 1 - rank;
    MPI_Comm ring;
    int all[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    CHECK_MPI(MPI_Cart_create(comm, 1, dims, periods, 0, &ring));
    CHECK_MPI(MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, ring));
    CHECK(all[0] == other && all[1] == other);
    all[0] = all[1] = -1;
    CHECK_MPI(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, ring));
    CHECK(all[0] == other && all[1] == other);
    const int out[2] = {10 * rank, 10 * rank + 1}; /* to the one below, to the one above */
    all[0] = all[1] = -1;
    CHECK_MPI(MPI_Neighbor_alltoall(out, 1, MPI_INT, all, 1, MPI_INT, ring));
    CHECK(all[0] == 10 * other + 1 && all[1] == 10 * other);
    all[0] = all[1] = -1;
    CHECK_MPI(MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, ring));
    CHECK(are_blocks_of(other, all));
    all[0] = all[1] = -1;
    CHECK_MPI(MPI_Neighbor_alltoallw(out, counts, bytes, types, all, counts, bytes, types, ring));
    CHECK(are_blocks_of(other, all));
    CHECK_MPI(MPI_Comm_free(&ring));
}

#if MPI_VERSION >= 4
/* Persistent operations, started in another order by each rank. */
static void persistent(int rank, MPI_Comm comm) {
    int number = rank == 0 ? 42 : -1, sum = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CHECK_MPI(MPI_Bcast_init(&number, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_MPI(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 3; ++round) {
        CHECK_MPI(MPI_Start(&requests[rank]));
        CHECK_MPI(MPI_Start(&requests[1 - rank]));
        CHECK_MPI(MPI_Waitall(2, requests, statuses));
        CHECK(number == 42 && sum == 1);
    }
    CHECK_MPI(MPI_Request_free(&requests[0]));
    CHECK_MPI(MPI_Request_free(&requests[1]));
}
#endif

/* Calls that have no nonblocking form: they run beside all others. */
static void calls_apart(int rank, MPI_Comm comm) {
    MPI_Comm half;
    int size = 0, number = -1;
    _Alignas(16) int memory = -1; /* MPICH 4.0.2 alone puts nothing into windows that are not aligned so */
    CHECK_MPI(MPI_Comm_split(comm, rank, 0, &half));
    CHECK_MPI(MPI_Comm_size(half, &size));
    CHECK(size == 1);
    CHECK_MPI(MPI_Comm_free(&half));
    CHECK(half == MPI_COMM_NULL);
    MPI_Win window;
    CHECK_MPI(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, comm, &window));
    CHECK_MPI(MPI_Win_fence(0, window));
    CHECK_MPI(MPI_Put(&rank, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window));
    CHECK_MPI(MPI_Win_fence(0, window));
    CHECK(memory == 1 - rank);
    CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window));
    CHECK_MPI(MPI_Get(&number, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window));
    CHECK_MPI(MPI_Win_unlock(1 - rank, window));
    CHECK(number == rank);
    CHECK_MPI(MPI_Win_free(&window));
}

static void all_collective_calls(int rank, MPI_Comm comm) {
    CHECK_MPI(MPI_Barrier(comm));
    rooted(rank, comm);
    gathered_by_all(rank, comm);
    reduced_by_all(rank, comm);
    neighbors(rank, comm);
#if MPI_VERSION >= 4
    persistent(rank, comm);
#endif
}
