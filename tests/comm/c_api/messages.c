/* Sending and receiving, whole and in pieces, with and without wildcards; requests. */
#include <stdlib.h>
#include <string.h>

#include <fult/comm.h>

#include "tests/comm/c_api/cases.h"
#include "tests/support/check.h"

static int next(void) { return (fult_comm_rank() + 1) % fult_comm_size(); }
static int previous(void) { return (fult_comm_rank() + fult_comm_size() - 1) % fult_comm_size(); }

static int is(const fult_comm_envelope *envelope, int source, uint32_t tag, size_t size) {
    return envelope->source == source && envelope->tag == tag && envelope->size == size;
}

struct to_send {
    const void *data;
    size_t size;
    uint32_t tag;
};
static void *sends(void *argument) {
    const struct to_send *what = argument;
    CHECK(fult_comm_send(fult_comm_world(), what->data, what->size, next(), what->tag) == FULT_SUCCESS);
    return NULL;
}

static void of_one_size(size_t size) {
    const fult_comm_endpoint_t world = fult_comm_world();
    unsigned char *out = malloc(size + 1), *in = calloc(size + 1, 1);
    for (size_t i = 0; i < size; ++i)
        out[i] = (unsigned char)(i * 7 + (size_t)fult_comm_rank());
    struct to_send what = {out, size, 0xffffffffu};
    fult_task_t sender;
    fult_comm_envelope envelope;
    CHECK(fult_spawn(&sender, sends, &what) == FULT_SUCCESS);
    CHECK(fult_comm_probe(world, previous(), what.tag, &envelope) == FULT_SUCCESS);
    CHECK(is(&envelope, previous(), what.tag, size));
    CHECK(fult_comm_try_probe(world, previous(), what.tag, NULL) == FULT_SUCCESS);
    memset(&envelope, 0, sizeof envelope);
    CHECK(fult_comm_recv(world, in, size + 1, previous(), what.tag, &envelope) == FULT_SUCCESS);
    CHECK(is(&envelope, previous(), what.tag, size));
    int differ = 0;
    for (size_t i = 0; i < size; ++i)
        differ += in[i] != (unsigned char)(i * 7 + (size_t)previous());
    CHECK(differ == 0 && in[size] == 0);
    CHECK(fult_join(sender, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_try_probe(world, previous(), what.tag, NULL) == FULT_ERR_BUSY);
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS); /* then the next one may come */
    free(out);
    free(in);
}

static void in_both_directions(void) {
    int out = fult_comm_rank() + 100, in = 0;
    fult_comm_envelope envelope;
    CHECK(fult_comm_sendrecv(fult_comm_world(), &out, sizeof out, next(), 3, &in, sizeof in, previous(), 3,
                             &envelope) == FULT_SUCCESS);
    CHECK(in == previous() + 100 && is(&envelope, previous(), 3, sizeof in));
}

static void in_pieces(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    const char word[] = "scattered";
    const int number = 42;
    const fult_comm_const_buffer pieces[] = {{word, sizeof word}, {NULL, 0}, {&number, sizeof number}};
    char first[4], second[sizeof word - 4];
    int got = 0;
    const fult_comm_mutable_buffer rooms[] = {
        {first, sizeof first}, {second, sizeof second}, {&got, sizeof got}};
    fult_comm_envelope envelope;
    /* 14 bytes: these fit a packet, and no receive is needed for the send to end. */
    CHECK(fult_comm_sendv(world, pieces, 3, next(), 4) == FULT_SUCCESS);
    CHECK(fult_comm_recvv(world, rooms, 3, previous(), 4, &envelope) == FULT_SUCCESS);
    CHECK(is(&envelope, previous(), 4, sizeof word + sizeof number));
    CHECK(memcmp(first, word, 4) == 0 && memcmp(second, word + 4, sizeof second) == 0 && got == 42);
    CHECK(fult_comm_sendv(world, NULL, 0, next(), 4) == FULT_SUCCESS);
    CHECK(fult_comm_recvv(world, NULL, 0, previous(), 4, &envelope) == FULT_SUCCESS);
    CHECK(envelope.size == 0);
}

static void longer_than_its_memory(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    char out[100] = {0}, in[10];
    struct to_send what = {out, sizeof out, 5};
    fult_task_t sender;
    CHECK(fult_spawn(&sender, sends, &what) == FULT_SUCCESS);
    CHECK(fult_comm_recv(world, in, sizeof in, previous(), 5, NULL) == FULT_COMM_ERR_TRUNCATED);
    CHECK(strstr(fult_comm_error_text(), "has 100 bytes") && strstr(fult_comm_error_text(), "room for 10;"));
    CHECK(fult_join(sender, NULL) == FULT_SUCCESS);
    in_both_directions(); /* the rest goes on */
}

static void any_sender(void) {
    fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
    attr.wildcards = 1;
    fult_comm_endpoint_t open;
    CHECK(fult_comm_endpoint_create(&open, &attr) == FULT_SUCCESS);
    const int rank = fult_comm_rank(), size = fult_comm_size();
    for (int to = 0; to < size; ++to)
        CHECK(fult_comm_send(open, &rank, sizeof rank, to, (uint32_t)rank + 1000) == FULT_SUCCESS);
    for (int i = 0; i < size; ++i) {
        int from = -1;
        fult_comm_envelope envelope;
        CHECK(fult_comm_recv(open, &from, sizeof from, FULT_COMM_ANY_SOURCE, FULT_COMM_ANY_TAG, &envelope) ==
              FULT_SUCCESS);
        CHECK(is(&envelope, from, (uint32_t)from + 1000, sizeof from));
    }
    CHECK(fult_comm_endpoint_destroy(open) == FULT_SUCCESS);
}

int check_messages(void) {
    static const size_t sizes[] = {0, 1, 8, 4000, 8192, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        of_one_size(sizes[i]);
    in_both_directions();
    in_pieces();
    longer_than_its_memory();
    any_sender();
    return failures;
}

/* Requests ----------------------------------------------------------------------------------------------- */

enum { window = 20 };

static void all_at_once(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    fult_comm_request_t requests[2 * window];
    fult_comm_envelope abouts[2 * window];
    int out[window], in[window], results[2 * window];
    for (int i = 0; i < window; ++i) {
        out[i] = fult_comm_rank() * 1000 + i;
        CHECK(fult_comm_irecv(world, &in[i], sizeof in[i], previous(), i, &requests[i]) == FULT_SUCCESS);
        CHECK(requests[i] != NULL);
    }
    for (int i = 0; i < window; ++i)
        CHECK(fult_comm_isend(world, &out[i], sizeof out[i], next(), (uint32_t)i, &requests[window + i]) ==
              FULT_SUCCESS);
    CHECK(fult_comm_wait_all(requests, 2 * window, abouts, results) == FULT_SUCCESS);
    for (int i = 0; i < window; ++i) {
        CHECK(in[i] == previous() * 1000 + i);
        CHECK(is(&abouts[i], previous(), (uint32_t)i, sizeof in[i]));
    }
    for (int i = 0; i < 2 * window; ++i)
        CHECK(requests[i] == NULL && results[i] == FULT_SUCCESS);
    CHECK(fult_comm_wait_all(requests, 2 * window, NULL, NULL) == FULT_SUCCESS); /* all are empty */
    CHECK(fult_comm_wait_all(NULL, 0, NULL, NULL) == FULT_SUCCESS);
}

static void one_after_the_other(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    fult_comm_request_t requests[window];
    int out = 7, in[window], seen[window] = {0};
    size_t index = 99;
    for (int i = 0; i < window; ++i)
        CHECK(fult_comm_irecv(world, &in[i], sizeof in[i], previous(), 50 + i, &requests[i]) == FULT_SUCCESS);
    for (int i = window - 1; i >= 0; --i)
        CHECK(fult_comm_send(world, &out, sizeof out, next(), 50 + (uint32_t)i) == FULT_SUCCESS);
    for (int i = 0; i < window; ++i) {
        fult_comm_envelope envelope;
        CHECK(fult_comm_wait_any(requests, window, &index, &envelope) == FULT_SUCCESS);
        CHECK(index < window && requests[index] == NULL);
        CHECK(is(&envelope, previous(), 50 + (uint32_t)index, sizeof out) && in[index] == 7);
        ++seen[index];
    }
    for (int i = 0; i < window; ++i)
        CHECK(seen[i] == 1);
    CHECK(fult_comm_wait_any(requests, window, &index, NULL) == FULT_SUCCESS && index == window);
}

static void tested_and_taken_back(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    fult_comm_request_t receive = NULL, other = NULL;
    fult_comm_envelope envelope;
    int in = 0, out = 5, status;
    CHECK(fult_comm_test(&receive, NULL) == FULT_SUCCESS); /* of nothing */
    CHECK(fult_comm_wait(&receive, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_cancel(NULL) == FULT_ERR_BUSY);
    CHECK(fult_comm_irecv(world, &in, sizeof in, previous(), 80, &receive) == FULT_SUCCESS);
    CHECK(fult_comm_irecv(world, &in, sizeof in, previous(), 81, &other) == FULT_SUCCESS);
    CHECK(fult_comm_test(&other, NULL) == FULT_ERR_BUSY && other);
    CHECK(fult_comm_cancel(other) == FULT_SUCCESS);
    CHECK(fult_comm_cancel(other) == FULT_ERR_BUSY);
    CHECK(fult_comm_wait(&other, NULL) == FULT_COMM_ERR_CANCELLED && !other);
    CHECK(fult_comm_send(world, &out, sizeof out, next(), 80) == FULT_SUCCESS);
    while ((status = fult_comm_test(&receive, &envelope)) == FULT_ERR_BUSY)
        fult_yield();
    CHECK(status == FULT_SUCCESS && !receive && in == 5 && is(&envelope, previous(), 80, sizeof in));
}

/* Of several, one fails: the others are complete, and it is known which. */
static void one_fails(void) {
    const fult_comm_endpoint_t world = fult_comm_world();
    fult_comm_request_t requests[3];
    char small[2], out[3] = "ab";
    int results[3], in = 0, number = 9;
    CHECK(fult_comm_irecv(world, &in, sizeof in, previous(), 90, &requests[0]) == FULT_SUCCESS);
    CHECK(fult_comm_irecv(world, small, sizeof small, previous(), 91, &requests[1]) == FULT_SUCCESS);
    CHECK(fult_comm_isend(world, out, sizeof out, next(), 91, &requests[2]) == FULT_SUCCESS);
    CHECK(fult_comm_send(world, &number, sizeof number, next(), 90) == FULT_SUCCESS);
    CHECK(fult_comm_wait_all(requests, 3, NULL, results) == FULT_COMM_ERR_TRUNCATED);
    CHECK(strstr(fult_comm_error_text(), "tag 91"));
    CHECK(results[0] == FULT_SUCCESS && results[1] == FULT_COMM_ERR_TRUNCATED && results[2] == FULT_SUCCESS);
    CHECK(in == 9 && !requests[0] && !requests[1] && !requests[2]);
}

int check_requests(void) {
    const int before = failures;
    all_at_once();
    one_after_the_other();
    tested_and_taken_back();
    one_fails();
    return failures - before;
}
