/* Detached OpenMP tasks whose events are fulfilled by requests: what depends on such a task finds its
 * message. */
#include <fult/mpi.h>

#include "check_mpi.h"

enum { tasks = 100 };

static void chains(int rank, int other) {
    static int in[tasks], out[tasks];
    int right = 0;
    MPI_Status statuses[tasks];
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
        omp_event_handle_t received, sent;
#pragma omp task detach(received) depend(out : in[i]) firstprivate(i) shared(statuses)
        {
            MPI_Request request;
            CHECK_MPI(MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &request));
            CHECK_MPI(fult_mpi_iwait(&request, &statuses[i], received));
            CHECK(request == MPI_REQUEST_NULL);
        }
#pragma omp task depend(in : in[i]) firstprivate(i) shared(statuses, right)
        if (in[i] == 1000 * other + i && statuses[i].MPI_TAG == i && statuses[i].MPI_ERROR == MPI_SUCCESS) {
#pragma omp atomic
            ++right;
        }
#pragma omp task detach(sent) firstprivate(i)
        {
            MPI_Request request;
            out[i] = 1000 * rank + i;
            CHECK_MPI(MPI_Isend(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &request));
            CHECK_MPI(fult_mpi_iwait(&request, MPI_STATUS_IGNORE, sent));
        }
    }
    CHECK(right == tasks);
}

/* The event of a task that has begun all of them, some of which are null. */
static void event_of_many(int rank, int other) {
    static int in[tasks], out[tasks];
    int right = 0;
    MPI_Status statuses[tasks];
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t received;
#pragma omp task detach(received) depend(out : in[0]) shared(statuses)
        {
            MPI_Request requests[tasks];
            for (int i = 0; i < tasks; ++i)
                requests[i] = MPI_REQUEST_NULL;
            for (int i = 1; i < tasks; ++i)
                CHECK_MPI(MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]));
            CHECK_MPI(fult_mpi_iwaitall(tasks, requests, statuses, received));
            for (int i = 0; i < tasks; ++i)
                CHECK(requests[i] == MPI_REQUEST_NULL);
        }
#pragma omp task depend(in : in[0]) shared(statuses, right)
        for (int i = 1; i < tasks; ++i)
            right +=
                in[i] == 1000 * other + i && statuses[i].MPI_TAG == i && statuses[i].MPI_ERROR == MPI_SUCCESS;
        for (int i = tasks - 1; i > 0; --i)
#pragma omp task firstprivate(i)
        {
            out[i] = 1000 * rank + i;
            CHECK_MPI(MPI_Send(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD));
        }
    }
    CHECK(right == tasks - 1);
}

static void count(uintptr_t counter) {
#pragma omp atomic
    ++*(int *)counter;
}

/* Without tasks: the functions are called by the next call that waits. */
static void functions(int rank) {
    int got = -1, calls = 0;
    MPI_Request requests[2];
    CHECK_MPI(MPI_Irecv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_MPI(fult_mpi_on_completion(&requests[0], MPI_STATUS_IGNORE, count, (uintptr_t)&calls));
    CHECK_MPI(MPI_Isend(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_MPI(fult_mpi_on_completion(&requests[1], MPI_STATUS_IGNORE, count, (uintptr_t)&calls));
    for (int now = 0; now < 2;) {
        CHECK_MPI(MPI_Barrier(MPI_COMM_SELF));
#pragma omp atomic read
        now = calls;
    }
    CHECK(got == rank);
}

int main(int argument_count, char **arguments) {
    int rank = -1;
    CHECK_MPI(MPI_Init(&argument_count, &arguments));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    functions(rank);
    chains(rank, 1 - rank);
    event_of_many(rank, 1 - rank);
    functions(rank);
    CHECK_MPI(MPI_Finalize());
    return 0;
}
