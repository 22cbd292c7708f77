/* Errors: of the start of an operation and of its end, returned to the call, or passed to the handler of the
   communicator on which the call was made. A single rank. */
#include "check_mpi.h"

static int handled; /* by the handler below */
static MPI_Comm handled_on;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)code;
    ++handled;
    handled_on = *comm;
}

static int class_of(int code) {
    int class = -1;
    CHECK_MPI(MPI_Error_class(code, &class));
    return class;
}

/* A rank that does not exist. */
static void error_at_start(MPI_Comm comm) {
    int value = 0;
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, 77, 0, comm)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, 77, 0, comm, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Sendrecv(&value, 1, MPI_INT, 77, 0, &value, 1, MPI_INT, 0, 0, comm,
                                MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, 77, comm)) == MPI_ERR_ROOT);
}

/* A message that is too long, sent before its receive: what Open MPI does not report of a receive that comes
 * first. */
static void error_at_end(MPI_Comm comm) {
    int values[4] = {0}, got = 0;
    MPI_Request sent;
    CHECK_MPI(MPI_Isend(values, 4, MPI_INT, 0, 1, comm, &sent));
    const int code = MPI_Recv(&got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == MPI_ERR_TRUNCATE);
    CHECK_MPI(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

static void by_return(MPI_Comm comm) {
    CHECK_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    error_at_start(comm);
    error_at_end(comm);
}

static void by_handler(MPI_Comm comm) {
    MPI_Errhandler handler;
    CHECK_MPI(MPI_Comm_create_errhandler(note, &handler));
    CHECK_MPI(MPI_Comm_set_errhandler(comm, handler));
    CHECK_MPI(MPI_Errhandler_free(&handler));
    handled = 0;
    error_at_start(comm);
    CHECK(handled == 4 && handled_on == comm);
    handled = 0;
    error_at_end(comm);
    CHECK(handled == 1 && handled_on == comm);
}

int main(int count, char **arguments) {
    MPI_Comm comm;
    CHECK_MPI(MPI_Init(&count, &arguments));
    CHECK_MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    by_return(comm);
    by_handler(comm);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 2; ++i)
#pragma omp task shared(comm)
#pragma omp critical
    {
        by_return(comm);
        by_handler(comm);
    }
    CHECK_MPI(MPI_Comm_free(&comm));
    CHECK_MPI(MPI_Finalize());
    return 0;
}
