/* Endpoints whose messages are queued or handled; what is wrong with arguments. */
#include <stdatomic.h>
#include <string.h>

#include <fult/comm.h>

#include "tests/comm/c_api/cases.h"
#include "tests/support/check.h"

enum { messages = 30 };

static void queued(void) {
    fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
    attr.delivery = FULT_COMM_QUEUED;
    fult_comm_endpoint_t e;
    CHECK(fult_comm_endpoint_create(&e, &attr) == FULT_SUCCESS);
    const int size = fult_comm_size(), to = (fult_comm_rank() + 1) % size,
              from = (fult_comm_rank() + size - 1) % size;
    static char large[20000];
    for (uint32_t i = 0; i < messages; ++i)
        while (fult_comm_enqueue(e, &i, sizeof i, to, i) == FULT_ERR_BUSY)
            fult_yield();
    while (fult_comm_enqueue(e, large, sizeof large, to, messages) == FULT_ERR_BUSY)
        fult_yield();
    for (uint32_t i = 0; i <= messages; ++i) {
        void *data = NULL;
        fult_comm_envelope envelope;
        int status;
        while ((status = fult_comm_dequeue(e, &data, &envelope)) == FULT_ERR_BUSY)
            fult_yield();
        CHECK(status == FULT_SUCCESS && envelope.source == from && envelope.tag == i);
        CHECK(envelope.size == (i == messages ? sizeof large : sizeof i));
        CHECK(i == messages || memcmp(data, &i, sizeof i) == 0);
        fult_comm_free(data);
    }
    fult_comm_free(NULL);
    CHECK(fult_comm_recv(e, large, 1, from, 0, NULL) == FULT_ERR_INVALID);
    CHECK(fult_comm_barrier(e) == FULT_SUCCESS); /* any endpoint will do */
    CHECK(fult_comm_endpoint_destroy(e) == FULT_SUCCESS);
}

struct tally {
    atomic_int calls, sum, wrong;
    int may_suspend;
};

static void handles(void *user, const fult_comm_envelope *envelope, const void *data) {
    struct tally *t = user;
    int number = 0;
    if (envelope->size != sizeof number || envelope->tag != 11)
        atomic_fetch_add(&t->wrong, 1);
    else
        memcpy(&number, data, sizeof number);
    if (t->may_suspend && fult_yield() != FULT_SUCCESS)
        atomic_fetch_add(&t->wrong, 1);
    atomic_fetch_add(&t->sum, number);
    atomic_fetch_add(&t->calls, 1);
}

static void handled(int delivery) {
    struct tally t = {.may_suspend = delivery == FULT_COMM_AS_A_TASK};
    fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
    attr.delivery = delivery;
    attr.handler = handles;
    attr.user = &t;
    fult_comm_endpoint_t e;
    CHECK(fult_comm_endpoint_create(&e, &attr) == FULT_SUCCESS);
    for (int i = 0; i < messages; ++i)
        CHECK(fult_comm_send(e, &i, sizeof i, (fult_comm_rank() + 1) % fult_comm_size(), 11) == FULT_SUCCESS);
    while (atomic_load(&t.calls) < messages) {
        fult_comm_progress();
        fult_yield();
    }
    CHECK(atomic_load(&t.sum) == messages * (messages - 1) / 2 && atomic_load(&t.wrong) == 0);
    CHECK(fult_comm_barrier(e) == FULT_SUCCESS);
    CHECK(fult_comm_endpoint_destroy(e) == FULT_SUCCESS);
}

int check_deliveries(void) {
    queued();
    handled(FULT_COMM_HANDLED);
    handled(FULT_COMM_AS_A_TASK);
    return failures;
}

/* Wrong arguments: a status, a text that names the call or the thing, and nothing else happens. */
#define REFUSED(call, word)                               \
    do {                                                  \
        CHECK((call) == FULT_ERR_INVALID);                \
        CHECK(strstr(fult_comm_error_text(), word));      \
        if (!strstr(fult_comm_error_text(), word))        \
            printf("said: %s\n", fult_comm_error_text()); \
    } while (0)

static void to_and_from_nowhere(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    const int size = fult_comm_size();
    char byte = 0;
    fult_comm_request_t request = NULL;
    REFUSED(fult_comm_send(NULL, &byte, 1, 0, 0), "fult_comm_send: the endpoint is NULL");
    REFUSED(fult_comm_send(world, NULL, 1, 0, 0), "fult_comm_send: the memory is NULL");
    REFUSED(fult_comm_send(world, &byte, 1, size, 0), "there is no rank");
    REFUSED(fult_comm_send(world, &byte, 1, -1, 0), "there is no rank -1");
    REFUSED(fult_comm_send(world, &byte, 1, 0, -1), "tags are 0 to 4294967295");
    REFUSED(fult_comm_send(world, &byte, 1, 0, (int64_t)1 << 32), "tags are 0 to 4294967295");
    REFUSED(fult_comm_recv(world, NULL, 1, 0, 0, NULL), "fult_comm_recv");
    REFUSED(fult_comm_recv(world, &byte, 1, size, 0, NULL), "there is no rank");
    REFUSED(fult_comm_recv(world, &byte, 1, 0, (int64_t)1 << 32, NULL), "tags are 0 to 4294967295");
    REFUSED(fult_comm_recv(world, &byte, 1, FULT_COMM_ANY_SOURCE, 0, NULL), "wildcards");
    REFUSED(fult_comm_recv(world, &byte, 1, 0, FULT_COMM_ANY_TAG, NULL), "wildcards");
    REFUSED(fult_comm_sendrecv(world, &byte, 1, 0, 0, NULL, 1, 0, 0, NULL), "fult_comm_sendrecv");
    REFUSED(fult_comm_sendv(world, NULL, 1, 0, 0), "the list is NULL");
    REFUSED(fult_comm_sendv(world, NULL, SIZE_MAX, 0, 0), "the list is NULL");
    REFUSED(fult_comm_recvv(world, NULL, SIZE_MAX / 64, 0, 0, NULL), "the list is NULL");
    const fult_comm_mutable_buffer nowhere = {NULL, 5};
    REFUSED(fult_comm_recvv(world, &nowhere, 1, 0, 0, NULL), "part 0");
    REFUSED(fult_comm_probe(world, size, 0, NULL), "there is no rank");
    REFUSED(fult_comm_try_probe(NULL, 0, 0, NULL), "fult_comm_try_probe");
    REFUSED(fult_comm_enqueue(world, &byte, 1, -3, 0), "there is no rank -3");
    REFUSED(fult_comm_enqueue(world, NULL, 1, 0, 0), "fult_comm_enqueue");
    void *data = NULL;
    REFUSED(fult_comm_dequeue(world, &data, NULL), "no queue");
    REFUSED(fult_comm_dequeue(world, NULL, NULL), "no place");
    REFUSED(fult_comm_isend(world, &byte, 1, size, 0, &request), "isend: there is no rank");
    REFUSED(fult_comm_isend(world, &byte, 1, 0, 0, NULL), "no place");
    REFUSED(fult_comm_irecv(world, NULL, 1, 0, 0, &request), "fult_comm_irecv");
    REFUSED(fult_comm_irecv(world, &byte, 1, 0, -2, &request), "tag -2");
    CHECK(request == NULL);
    REFUSED(fult_comm_wait(NULL, NULL), "fult_comm_wait");
    REFUSED(fult_comm_test(NULL, NULL), "fult_comm_test");
    size_t index = 0;
    REFUSED(fult_comm_wait_any(&request, 1, NULL, NULL), "index");
    REFUSED(fult_comm_wait_any(NULL, 1, &index, NULL), "list");
    REFUSED(fult_comm_wait_all(NULL, 2, NULL, NULL), "list");
}

static void add(void *user, const void *left, const void *right, void *result, size_t count) {
    (void)user, (void)left, (void)right, (void)result, (void)count;
}

static void together(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    int in[4] = {0}, out[4] = {0};
    const size_t sizes[16] = {0};
    const int size = fult_comm_size();
    REFUSED(fult_comm_barrier(NULL), "fult_comm_barrier");
    REFUSED(fult_comm_broadcast(world, in, sizeof in, size), "broadcast: the root cannot be rank");
    REFUSED(fult_comm_broadcast(world, NULL, 4, 0), "fult_comm_broadcast");
    REFUSED(fult_comm_allreduce(world, in, out, 4, 99, FULT_COMM_SUM), "the type is 99");
    REFUSED(fult_comm_allreduce(world, in, out, 4, FULT_COMM_INT32, -1), "the operation is -1");
    REFUSED(fult_comm_allreduce(world, in, out, 4, FULT_COMM_FLOAT, FULT_COMM_BITWISE_OR),
            "not for this type");
    REFUSED(fult_comm_allreduce(world, in, NULL, 4, FULT_COMM_INT32, FULT_COMM_SUM), "fult_comm_allreduce");
    REFUSED(fult_comm_allreduce(world, in, out, (size_t)-1, FULT_COMM_INT32, FULT_COMM_SUM),
            "no memory is as large");
    REFUSED(fult_comm_reduce(world, in, NULL, 4, FULT_COMM_INT32, FULT_COMM_SUM, fult_comm_rank()),
            "fult_comm_reduce");
    REFUSED(fult_comm_reduce(world, in, out, 4, FULT_COMM_INT32, FULT_COMM_SUM, -1), "reduce: the root");
    REFUSED(fult_comm_allreduce_with(world, in, out, 4, 4, NULL, NULL), "the operation is NULL");
    REFUSED(fult_comm_allreduce_with(world, in, out, 4, 0, add, NULL), "elements of 0 bytes");
    REFUSED(fult_comm_gather(world, in, 4, NULL, fult_comm_rank()), "fult_comm_gather");
    REFUSED(fult_comm_gather(world, in, 4, out, size), "gather: the root");
    REFUSED(fult_comm_allgather(world, NULL, 4, out), "fult_comm_allgather");
    REFUSED(fult_comm_alltoall(world, in, 4, NULL), "fult_comm_alltoall");
    REFUSED(fult_comm_alltoallv(world, in, NULL, out, sizes), "in_sizes");
    REFUSED(fult_comm_alltoallv(world, in, sizes, out, NULL), "out_sizes");
}

static void endpoints(void) {
    fult_comm_endpoint_t e = NULL;
    fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
    attr.delivery = FULT_COMM_HANDLED;
    REFUSED(fult_comm_endpoint_create(&e, &attr), "needs a handler");
    attr.delivery = 17;
    REFUSED(fult_comm_endpoint_create(&e, &attr), "attr->delivery is 17");
    attr.size = 1;
    REFUSED(fult_comm_endpoint_create(&e, &attr), "FULT_COMM_ENDPOINT_ATTR_INIT");
    REFUSED(fult_comm_endpoint_create(NULL, NULL), "no place");
    REFUSED(fult_comm_endpoint_destroy(NULL), "NULL");
    REFUSED(fult_comm_endpoint_destroy(fult_comm_world()), "the world");
    CHECK(e == NULL);
    CHECK(fult_comm_endpoint_create(&e, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_finalize() == FULT_COMM_ERR_IN_USE);
    CHECK(strstr(fult_comm_error_text(), "endpoints or regions are left: 1"));
    CHECK(fult_comm_endpoint_destroy(e) == FULT_SUCCESS);
    CHECK(fult_comm_init(NULL) == FULT_COMM_ERR_RUNNING);
}

int check_wrong_arguments(void) {
    const int before = failures;
    to_and_from_nowhere();
    together();
    endpoints();
    CHECK(fult_comm_failed(-1) == -1 && fult_comm_failed(fult_comm_size()) == -1);
    CHECK(fult_comm_failed(fult_comm_rank()) == 0);
    CHECK(fult_comm_route(-1) == NULL && fult_comm_route(fult_comm_size()) == NULL);
    CHECK(strcmp(fult_comm_route(fult_comm_rank()), "self") == 0);
    return failures - before;
}
