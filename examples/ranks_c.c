/* The ring of ranks.cpp in C, followed by a sum over all ranks. */
#include <stdio.h>

#include <fult/comm.h>

static int ring(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    const int rank = fult_comm_rank(), size = fult_comm_size();
    int before = -1, sum = 0;
    int status = fult_comm_sendrecv(world, &rank, sizeof rank, (rank + 1) % size, 1, &before, sizeof before,
                                    (rank + size - 1) % size, 1, NULL);
    if (status == FULT_SUCCESS)
        status = fult_comm_allreduce(world, &rank, &sum, 1, FULT_COMM_INT32, FULT_COMM_SUM);
    if (status == FULT_SUCCESS)
        printf("rank %d heard from rank %d; the sum of all is %d\n", rank, before, sum);
    return status;
}

int main(void) {
    int status = fult_init(NULL);
    if (status == FULT_SUCCESS)
        status = fult_comm_init(NULL); /* a single rank if there is no launcher */
    if (status == FULT_SUCCESS)
        status = ring();
    if (status == FULT_SUCCESS)
        status = fult_comm_finalize();
    if (status != FULT_SUCCESS) {
        fprintf(stderr, "%s (%s)\n", fult_comm_strerror(status), fult_comm_error_text());
        return 1;
    }
    return fult_finalize() != FULT_SUCCESS;
}
