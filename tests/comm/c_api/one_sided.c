/* Memory that other ranks write and read: each rank writes to the next one and reads from it. */
#include <stdlib.h>
#include <string.h>

#include <fult/comm.h>

#include "tests/comm/c_api/cases.h"
#include "tests/support/check.h"

enum { numbers = 5000 }; /* more than a packet holds */

/* The regions of all ranks, by rank. */
static void notify_all_others(fult_comm_region_t mine, fult_comm_remote_region *all) {
    fult_comm_remote_region own;
    CHECK(fult_comm_region_remote(mine, &own) == FULT_SUCCESS);
    CHECK(own.rank == fult_comm_rank() && own.size == numbers * sizeof(int));
    CHECK(fult_comm_allgather(fult_comm_world(), &own, sizeof own, all) == FULT_SUCCESS);
}

static void puts_and_gets(const fult_comm_remote_region *next, int *memory, int before) {
    const fult_comm_endpoint_t world = fult_comm_world();
    const int rank = fult_comm_rank();
    int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {-1, -1, -1, -1}, one = rank * 10, sum = 0;
    CHECK(fult_comm_put(world, out, sizeof out, next, 8) == FULT_SUCCESS);
    CHECK(fult_comm_get(world, in, sizeof in, next, 8) == FULT_SUCCESS);
    CHECK(memcmp(in, out, sizeof in) == 0);
    CHECK(fult_comm_put_signal(world, &one, sizeof one, next, 0, 70) == FULT_SUCCESS);
    fult_comm_envelope envelope;
    CHECK(fult_comm_recv(world, NULL, 0, before, 70, &envelope) == FULT_SUCCESS && envelope.size == 0);
    CHECK(memory[0] == before * 10);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS); /* what follows goes over it */

    fult_comm_request_t requests[2];
    int *many = malloc(numbers * sizeof *many), *back = calloc(numbers, sizeof *back);
    for (int i = 0; i < numbers; ++i)
        many[i] = rank + i;
    CHECK(fult_comm_iput_signal(world, many, numbers * sizeof *many, next, 0, 71, &requests[0]) ==
          FULT_SUCCESS);
    CHECK(fult_comm_recv(world, NULL, 0, before, 71, NULL) == FULT_SUCCESS);
    for (int i = 0; i < numbers; ++i)
        sum += memory[i] == before + i;
    CHECK(sum == numbers);
    CHECK(fult_comm_wait(&requests[0], NULL) == FULT_SUCCESS);
    CHECK(fult_comm_iget(world, back, numbers * sizeof *back, next, 0, &requests[0]) == FULT_SUCCESS);
    CHECK(fult_comm_iput(world, many, 0, next, 0, &requests[1]) == FULT_SUCCESS);
    CHECK(fult_comm_wait_all(requests, 2, NULL, NULL) == FULT_SUCCESS);
    CHECK(memcmp(many, back, numbers * sizeof *many) == 0);
    free(many);
    free(back);
}

static void refused(const fult_comm_remote_region *next) {
    const fult_comm_endpoint_t world = fult_comm_world();
    int number = 0;
    fult_comm_request_t request = NULL;
    CHECK(fult_comm_put(world, &number, sizeof number, next, next->size - 1) == FULT_ERR_INVALID);
    CHECK(fult_comm_put(world, &number, sizeof number, NULL, 0) == FULT_ERR_INVALID);
    CHECK(strstr(fult_comm_error_text(), "fult_comm_put: the remote region is NULL"));
    CHECK(fult_comm_get(world, NULL, 4, next, 0) == FULT_ERR_INVALID);
    CHECK(fult_comm_iget(world, &number, 4, next, 0, NULL) == FULT_ERR_INVALID);
    CHECK(fult_comm_iput(NULL, &number, 4, next, 0, &request) == FULT_ERR_INVALID && !request);
    fult_comm_remote_region invalid = *next;
    invalid.rank = fult_comm_size();
    CHECK(fult_comm_get(world, &number, 4, &invalid, 0) == FULT_ERR_INVALID);
    invalid = *next;
    invalid.writable = 0;
    CHECK(fult_comm_put(world, &number, 4, &invalid, 0) == FULT_ERR_INVALID);
    fult_comm_region_t none = NULL;
    CHECK(fult_comm_region_create(&none, world, NULL, 4) == FULT_ERR_INVALID && !none);
    CHECK(fult_comm_region_create(NULL, world, &number, 4) == FULT_ERR_INVALID);
    CHECK(fult_comm_region_remote(NULL, &invalid) == FULT_ERR_INVALID);
    CHECK(fult_comm_region_destroy(NULL) == FULT_ERR_INVALID);
}

int check_one_sided(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    const int size = fult_comm_size(), next = (fult_comm_rank() + 1) % size,
              before = (fult_comm_rank() + size - 1) % size;
    int *memory = calloc(numbers, sizeof *memory);
    fult_comm_remote_region *all = calloc((size_t)size, sizeof *all);
    fult_comm_region_t region = NULL, reading = NULL;
    CHECK(fult_comm_region_create(&region, world, memory, numbers * sizeof *memory) == FULT_SUCCESS);
    notify_all_others(region, all);
    puts_and_gets(&all[next], memory, before);
    refused(&all[next]);
    CHECK(fult_comm_finalize() == FULT_COMM_ERR_IN_USE);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS);
    CHECK(fult_comm_region_destroy(region) == FULT_SUCCESS);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS); /* now all regions are withdrawn */
    int number = 0;
    CHECK(fult_comm_get(world, &number, sizeof number, &all[next], 0) == FULT_COMM_ERR_REFUSED);

    CHECK(fult_comm_region_create_const(&reading, world, memory, numbers * sizeof *memory) == FULT_SUCCESS);
    notify_all_others(reading, all);
    CHECK(fult_comm_get(world, &number, sizeof number, &all[next], 4) == FULT_SUCCESS);
    CHECK(number == fult_comm_rank() + 1); /* what this rank put there */
    CHECK(fult_comm_put(world, &number, sizeof number, &all[next], 0) == FULT_ERR_INVALID);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS);
    CHECK(fult_comm_region_destroy(reading) == FULT_SUCCESS);
    free(all);
    free(memory);
    return failures;
}
