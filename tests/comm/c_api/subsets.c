/* Endpoints of some ranks, synchronous sends, and messages that a probe takes. */
#include <stdlib.h>
#include <string.h>

#include <fult/comm.h>

#include "tests/comm/c_api/cases.h"
#include "tests/support/check.h"

static int others_number(fult_comm_endpoint_t on, int distance) {
    const int size = fult_comm_endpoint_size(on);
    return (fult_comm_endpoint_rank(on) + distance + size) % size;
}

static void backwards(void) {
    const int size = fult_comm_size();
    int *ranks = malloc((size_t)size * sizeof *ranks);
    fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
    fult_comm_endpoint_t own = NULL, alone = NULL;
    fult_comm_envelope envelope;
    for (int i = 0; i < size; ++i)
        ranks[i] = size - 1 - i;
    attr.wildcards = 1;
    CHECK(fult_comm_endpoint_subset(&own, fult_comm_world(), ranks, (size_t)size, 5, &attr) == FULT_SUCCESS);
    CHECK(fult_comm_endpoint_size(own) == size &&
          fult_comm_endpoint_rank(own) == size - 1 - fult_comm_rank());
    for (int i = -1; i <= size; ++i)
        CHECK(fult_comm_world_rank(own, i) == (i < 0 || i == size ? -1 : size - 1 - i));
    int out = fult_comm_rank(), in = -1;
    const int next = others_number(own, 1), previous = others_number(own, -1);
    CHECK(fult_comm_send(own, &out, sizeof out, next, 1) == FULT_SUCCESS);
    CHECK(fult_comm_recv(own, &in, sizeof in, FULT_COMM_ANY_SOURCE, 1, &envelope) == FULT_SUCCESS);
    CHECK(envelope.source == previous && in == fult_comm_world_rank(own, previous));
    const int self = fult_comm_endpoint_rank(own);
    CHECK(fult_comm_endpoint_subset(&alone, own, &self, 1, 0, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_endpoint_size(alone) == 1 && fult_comm_world_rank(alone, 0) == fult_comm_rank());
    CHECK(fult_comm_endpoint_destroy(alone) == FULT_SUCCESS);
    CHECK(fult_comm_barrier(own) == FULT_SUCCESS);
    CHECK(fult_comm_endpoint_destroy(own) == FULT_SUCCESS);
    const int twice[2] = {fult_comm_rank(), fult_comm_rank()};
    CHECK(fult_comm_endpoint_subset(&own, fult_comm_world(), twice, 2, 0, NULL) == FULT_ERR_INVALID);
    CHECK(strstr(fult_comm_error_text(), "listed twice"));
    CHECK(fult_comm_endpoint_subset(&own, fult_comm_world(), NULL, 2, 0, NULL) == FULT_ERR_INVALID);
    CHECK(fult_comm_endpoint_subset(NULL, fult_comm_world(), &self, 1, 0, NULL) == FULT_ERR_INVALID);
    CHECK(fult_comm_endpoint_rank(NULL) == -1 && fult_comm_endpoint_size(NULL) == 0);
    CHECK(fult_comm_world_rank(NULL, 0) == -1);
    free(ranks);
}

struct outgoing {
    const char *data;
    size_t size;
};
static void *sends(void *argument) {
    const struct outgoing *what = argument;
    const fult_comm_endpoint_t world = fult_comm_world();
    CHECK(fult_comm_ssend(world, what->data, what->size, others_number(world, 1), 70) == FULT_SUCCESS);
    return NULL;
}

static void synchronous_and_taken(size_t size) {
    const fult_comm_endpoint_t world = fult_comm_world();
    char *out = malloc(size + 1), *in = malloc(size + 1);
    const int next = others_number(world, 1), previous = others_number(world, -1);
    struct outgoing what = {out, size};
    fult_comm_request_t sent = NULL, coming = NULL;
    fult_comm_message_t taken = NULL;
    fult_comm_envelope envelope;
    fult_task_t sender;
    memset(out, 'a' + fult_comm_rank(), size);
    CHECK(fult_spawn(&sender, sends, &what) == FULT_SUCCESS);
    CHECK(fult_comm_mprobe(world, previous, 70, &taken, &envelope) == FULT_SUCCESS && taken);
    CHECK(envelope.source == previous && envelope.size == size);
    CHECK(fult_comm_mrecv(&taken, in, size, &envelope) == FULT_SUCCESS && !taken);
    CHECK(size == 0 || (in[0] == 'a' + previous && in[size - 1] == 'a' + previous));
    CHECK(fult_join(sender, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_issend(world, out, size, next, 71, &sent) == FULT_SUCCESS);
    CHECK(fult_comm_test(&sent, NULL) == FULT_ERR_BUSY);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS); /* all have tested before one takes the message */
    int found;
    while ((found = fult_comm_try_mprobe(world, previous, 71, &taken, &envelope)) == FULT_ERR_BUSY)
        fult_yield();
    CHECK(found == FULT_SUCCESS);
    CHECK(fult_comm_imrecv(&taken, in, size, &coming) == FULT_SUCCESS && !taken);
    CHECK(fult_comm_wait(&coming, &envelope) == FULT_SUCCESS && envelope.size == size);
    CHECK(fult_comm_wait(&sent, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_try_mprobe(world, previous, 71, &taken, NULL) == FULT_ERR_BUSY && !taken);
    CHECK(fult_comm_mrecv(&taken, in, size, NULL) == FULT_ERR_INVALID);
    CHECK(fult_comm_imrecv(&taken, in, size, &coming) == FULT_ERR_INVALID);
    CHECK(fult_comm_mprobe(world, 0, 0, NULL, NULL) == FULT_ERR_INVALID);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS); /* then the next one may come */
    free(out);
    free(in);
}

int check_subsets(void) {
    const int before = failures;
    backwards();
    synchronous_and_taken(0);
    synchronous_and_taken(100);
    synchronous_and_taken(300000);
    return failures - before;
}
