/* Each blocking call between two ranks once, with its answer. */
#include "check_mpi.h"

/* A number and the status of its receive. */
static void check_received(int got, int wanted, const MPI_Status *status, int source, int tag) {
    int count = -1;
    CHECK(got == wanted);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag);
    CHECK_MPI(MPI_Get_count(status, MPI_INT, &count));
    CHECK(count == 1);
}

static void send_kinds(int rank, int other, MPI_Comm comm) {
    static char room[1000 + MPI_BSEND_OVERHEAD];
    CHECK_MPI(MPI_Buffer_attach(room, sizeof room));
    for (int kind = 0; kind < 4; ++kind) {
        const int out = 10 * rank + kind;
        int in = -1;
        MPI_Status status;
        MPI_Request received;
        CHECK_MPI(MPI_Irecv(&in, 1, MPI_INT, other, kind, comm, &received)); /* Rsend needs it to be posted */
        CHECK_MPI(MPI_Barrier(comm));
        if (kind == 0)
            CHECK_MPI(MPI_Send(&out, 1, MPI_INT, other, kind, comm));
        else if (kind == 1)
            CHECK_MPI(MPI_Bsend(&out, 1, MPI_INT, other, kind, comm));
        else if (kind == 2)
            CHECK_MPI(MPI_Ssend(&out, 1, MPI_INT, other, kind, comm));
        else
            CHECK_MPI(MPI_Rsend(&out, 1, MPI_INT, other, kind, comm));
        CHECK_MPI(MPI_Wait(&received, &status));
        check_received(in, 10 * other + kind, &status, other, kind);
    }
    void *back = NULL;
    int size = 0;
    CHECK_MPI(MPI_Buffer_detach(&back, &size));
    CHECK(back == room && size == (int)sizeof room);
}

static void receives(int rank, int other, MPI_Comm comm) {
    int in = -1;
    MPI_Status status;
    MPI_Request sent;
    /* any source, any tag, and an MPI_ERROR that must stay */
    CHECK_MPI(MPI_Isend(&rank, 1, MPI_INT, other, 5, comm, &sent));
    status.MPI_ERROR = 4711;
    CHECK_MPI(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
    check_received(in, other, &status, other, 5);
    CHECK(status.MPI_ERROR == 4711);
    CHECK_MPI(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 5, comm, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    CHECK_MPI(MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 5, comm));
    CHECK_MPI(
        MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 6, &in, 1, MPI_INT, MPI_PROC_NULL, 6, comm, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);

    CHECK_MPI(MPI_Sendrecv(&rank, 1, MPI_INT, other, 6, &in, 1, MPI_INT, other, 6, comm, &status));
    check_received(in, other, &status, other, 6);
    in = rank;
    CHECK_MPI(MPI_Sendrecv_replace(&in, 1, MPI_INT, other, 7, other, 7, comm, &status));
    check_received(in, other, &status, other, 7);
}

static void probes(int rank, int other, MPI_Comm comm) {
    int in = -1;
    MPI_Status status, statuses[2];
    MPI_Message message;
    MPI_Request sent[2];
    CHECK_MPI(MPI_Isend(&rank, 1, MPI_INT, other, 8, comm, &sent[0]));
    CHECK_MPI(MPI_Isend(&rank, 1, MPI_INT, other, 9, comm, &sent[1]));
    CHECK_MPI(MPI_Probe(other, 8, comm, &status));
    check_received(other, other, &status, other, 8);
    CHECK_MPI(MPI_Recv(&in, 1, MPI_INT, other, 8, comm, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_Mprobe(other, 9, comm, &message, &status));
    check_received(other, other, &status, other, 9);
    in = -1;
    CHECK_MPI(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    check_received(in, other, &status, other, 9);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_MPI(MPI_Waitall(2, sent, statuses));
}

enum { several = 5 };

static void start_several(int rank, int other, MPI_Comm comm, int *in, MPI_Request *requests) {
    for (int i = 0; i < several; ++i)
        CHECK_MPI(MPI_Irecv(&in[i], 1, MPI_INT, other, i, comm, &requests[i]));
    for (int i = 0; i < several; ++i)
        CHECK_MPI(MPI_Send(&rank, 1, MPI_INT, other, i, comm));
}

static void waits(int rank, int other, MPI_Comm comm) {
    int in[several], index = -1, indices[several], count = -1;
    MPI_Request requests[several];
    MPI_Status statuses[several], status;
    start_several(rank, other, comm, in, requests);
    CHECK_MPI(MPI_Waitall(several, requests, statuses));
    for (int i = 0; i < several; ++i) {
        check_received(in[i], other, &statuses[i], other, i);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    start_several(rank, other, comm, in, requests);
    for (int i = 0; i < several; ++i) {
        CHECK_MPI(MPI_Waitany(several, requests, &index, &status));
        check_received(in[index], other, &status, other, index);
    }
    CHECK_MPI(MPI_Waitany(several, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    start_several(rank, other, comm, in, requests);
    for (int left = several; left > 0; left -= count) {
        CHECK_MPI(MPI_Waitsome(several, requests, &count, indices, statuses));
        CHECK(count > 0);
        for (int i = 0; i < count; ++i)
            check_received(in[indices[i]], other, &statuses[i], other, indices[i]);
    }
    CHECK_MPI(MPI_Waitsome(several, requests, &count, indices, statuses));
    CHECK(count == MPI_UNDEFINED);
    CHECK_MPI(MPI_Wait(&requests[0], &status)); /* of no request: at once, with the empty status */
    CHECK(status.MPI_TAG == MPI_ANY_TAG);
}

static void persistent_requests(int rank, int other, MPI_Comm comm) {
    int in = -1;
    MPI_Request requests[2];
    CHECK_MPI(MPI_Recv_init(&in, 1, MPI_INT, other, 3, comm, &requests[0]));
    CHECK_MPI(MPI_Send_init(&rank, 1, MPI_INT, other, 3, comm, &requests[1]));
    for (int round = 0; round < 3; ++round) {
        in = -1;
        CHECK_MPI(MPI_Startall(2, requests));
        CHECK_MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        CHECK(in == other && requests[0] != MPI_REQUEST_NULL);
    }
    CHECK_MPI(MPI_Request_free(&requests[0]));
    CHECK_MPI(MPI_Request_free(&requests[1]));
}

static void tries(int rank, int other, MPI_Comm comm) {
    int in = -1, flag = 0;
    MPI_Request received;
    CHECK_MPI(MPI_Irecv(&in, 1, MPI_INT, other, 4, comm, &received));
    CHECK_MPI(MPI_Send(&rank, 1, MPI_INT, other, 4, comm));
    while (!flag)
        CHECK_MPI(MPI_Test(&received, &flag, MPI_STATUS_IGNORE));
    CHECK(in == other);
    CHECK_MPI(MPI_Send(&rank, 1, MPI_INT, other, 4, comm));
    for (flag = 0; !flag;)
        CHECK_MPI(MPI_Iprobe(other, 4, comm, &flag, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_Recv(&in, 1, MPI_INT, other, 4, comm, MPI_STATUS_IGNORE));
}

/* All but send_kinds, as there is one buffer to attach. */
static void all_point_to_point_calls(int rank, int other, MPI_Comm comm) {
    receives(rank, other, comm);
    probes(rank, other, comm);
    waits(rank, other, comm);
    persistent_requests(rank, other, comm);
    tries(rank, other, comm);
}
