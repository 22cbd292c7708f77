/* The C interface of messages, as a program of one or more ranks; the exit status is not 0 if a check failed.
 * c_api            all calls
 * c_api killed     the last rank kills itself while the others wait for it
 * c_api departs    the last rank ends its context while the others wait for it
 * c_api abort      rank 0 ends all ranks with status 7
 * c_api left       a receive is pending when the context ends, which ends the program */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fult/comm.h>

#include "tests/comm/c_api/cases.h"
#include "tests/support/check.h"

static void check_without_a_context(int expected_of_init) {
    fult_comm_endpoint_t e = NULL;
    char byte = 0;
    CHECK(fult_comm_init(NULL) == expected_of_init);
    CHECK(fult_comm_rank() == -1 && fult_comm_size() == 0);
    CHECK(!fult_comm_world() && !fult_comm_launcher() && !fult_comm_route(0));
    CHECK(fult_comm_failed(0) == -1 && fult_comm_progress() == 0 && fult_comm_refused_packets() == 0);
    CHECK(fult_comm_finalize() == FULT_COMM_ERR_NO_CONTEXT);
    CHECK(fult_comm_endpoint_create(&e, NULL) == FULT_COMM_ERR_NO_CONTEXT && !e);
    CHECK(fult_comm_endpoint_destroy(NULL) == FULT_COMM_ERR_NO_CONTEXT);
    CHECK(fult_comm_send(fult_comm_world(), &byte, 1, 0, 0) == FULT_COMM_ERR_NO_CONTEXT);
    CHECK(fult_comm_barrier(NULL) == FULT_COMM_ERR_NO_CONTEXT);
    CHECK(strstr(fult_comm_error_text(), "fult_comm_init"));
}

static void check_options(void) {
    fult_comm_options bad = FULT_COMM_OPTIONS_INIT;
    bad.packet_size = 3;
    CHECK(fult_comm_init(&bad) == FULT_ERR_INVALID);
    CHECK(strstr(fult_comm_error_text(), "FULT_COMM_PACKET_SIZE is '3': must be"));
    bad = (fult_comm_options)FULT_COMM_OPTIONS_INIT;
    bad.server = "no_policy";
    CHECK(fult_comm_init(&bad) == FULT_ERR_INVALID);
    CHECK(strstr(fult_comm_error_text(), "'no_policy'"));
    bad.size = 8;
    CHECK(fult_comm_init(&bad) == FULT_ERR_INVALID);
    CHECK(strstr(fult_comm_error_text(), "FULT_COMM_OPTIONS_INIT"));
}

static void check_texts(void) {
    for (int status = -1; status < FULT_COMM_ERR_PEER_LEFT + 2; ++status)
        CHECK(strlen(fult_comm_strerror(status)) > 3);
    CHECK(strcmp(fult_comm_strerror(FULT_ERR_BUSY), fult_strerror(FULT_ERR_BUSY)) == 0);
    CHECK(strstr(fult_comm_strerror(FULT_ERR_INVALID), "fult_comm_error_text"));
    CHECK(strstr(fult_strerror(FULT_COMM_ERR_TRUNCATED), "fult_comm_strerror"));
    CHECK(strcmp(fult_comm_strerror(FULT_COMM_ERR_TRUNCATED), fult_strerror(FULT_COMM_ERR_TRUNCATED)) != 0);
}

/* Waiting for a rank that dies ------------------------------------------------------------------------------
 */

static int last(void) { return fult_comm_size() - 1; }
static char large[200000];

static void *receives(void *unused) {
    char in[10];
    (void)unused;
    CHECK(fult_comm_recv(fult_comm_world(), in, sizeof in, last(), 1, NULL) == FULT_COMM_ERR_PEER_FAILED);
    CHECK(strstr(fult_comm_error_text(), "has ended"));
    return NULL;
}
static void *sends(void *unused) {
    (void)unused;
    CHECK(fult_comm_send(fult_comm_world(), large, sizeof large, last(), 2) == FULT_COMM_ERR_PEER_FAILED);
    return NULL;
}
static void *waits_for_several(void *unused) {
    static char in[2][10];
    fult_comm_request_t requests[2];
    int results[2];
    (void)unused;
    CHECK(fult_comm_irecv(fult_comm_world(), in[0], 10, last(), 3, &requests[0]) == FULT_SUCCESS);
    CHECK(fult_comm_irecv(fult_comm_world(), in[1], 10, last(), 4, &requests[1]) == FULT_SUCCESS);
    CHECK(fult_comm_wait_all(requests, 2, NULL, results) == FULT_COMM_ERR_PEER_FAILED);
    CHECK(results[0] == FULT_COMM_ERR_PEER_FAILED && results[1] == FULT_COMM_ERR_PEER_FAILED);
    return NULL;
}
static void *probes(void *unused) {
    (void)unused;
    CHECK(fult_comm_probe(fult_comm_world(), last(), 5, NULL) == FULT_COMM_ERR_PEER_FAILED);
    return NULL;
}
static void *meets(void *unused) {
    (void)unused;
    CHECK(fult_comm_barrier(fult_comm_world()) == FULT_COMM_ERR_PEER_FAILED);
    return NULL;
}

static int killed(void) {
    static const fult_function_t calls[] = {receives, sends, waits_for_several, probes, meets};
    enum { count = sizeof calls / sizeof calls[0] };
    fult_task_t tasks[count];
    char byte = 0;
    if (fult_comm_rank() == last()) {
        for (int from = 0; from < last(); ++from)
            CHECK(fult_comm_recv(fult_comm_world(), &byte, 1, from, 9, NULL) == FULT_SUCCESS);
        raise(SIGKILL);
    }
    for (int i = 0; i < count; ++i)
        CHECK(fult_spawn(&tasks[i], calls[i], NULL) == FULT_SUCCESS);
    for (int i = 0; i < 3; ++i)
        fult_yield(); /* most of them wait already; the result is the same */
    CHECK(fult_comm_send(fult_comm_world(), &byte, 1, last(), 9) == FULT_SUCCESS);
    CHECK(fult_join_all(tasks, count, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_failed(last()) == 1);
    CHECK(fult_comm_send(fult_comm_world(), &byte, 1, last(), 1) == FULT_COMM_ERR_PEER_FAILED);
    CHECK(fult_comm_enqueue(fult_comm_world(), &byte, 1, last(), 1) == FULT_COMM_ERR_PEER_FAILED);
    if (fult_comm_rank() == 0)
        printf("killed: %d failures\n", failures);
    return failures;
}

/* Its finalize returns only after the others have ended theirs. */
static int departs(void) {
    char in[10];
    if (fult_comm_rank() == last())
        return failures;
    CHECK(fult_comm_recv(fult_comm_world(), in, sizeof in, last(), 7, NULL) == FULT_COMM_ERR_PEER_LEFT);
    CHECK(strstr(fult_comm_error_text(), "has left the job") && strstr(fult_comm_error_text(), "tag 7"));
    CHECK(fult_comm_send(fult_comm_world(), large, sizeof large, last(), 2) == FULT_COMM_ERR_PEER_LEFT);
    CHECK(fult_comm_barrier(fult_comm_world()) == FULT_COMM_ERR_PEER_LEFT);
    if (fult_comm_rank() == 0)
        printf("departs: %d failures\n", failures);
    return failures;
}

static int all(void) {
    int failed = failures;
    failed += check_messages();
    failed += check_requests();
    failed += check_subsets();
    failed += check_deliveries();
    failed += check_one_sided();
    failed += check_wrong_arguments();
    failed += check_collectives();
    return failed;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "all";
    int failed = 0;
    check_without_a_context(FULT_ERR_NO_RUNTIME);
    check_texts();
    fult_config config = FULT_CONFIG_INIT;
    if (fult_init(&config) != FULT_SUCCESS)
        return 2;
    check_options();
    fult_comm_options options = FULT_COMM_OPTIONS_INIT;
    options.packets = 64;
    if (fult_comm_init(&options) != FULT_SUCCESS) {
        fprintf(stderr, "%s\n", fult_comm_error_text());
        return 3;
    }
    CHECK(fult_comm_rank() >= 0 && fult_comm_rank() < fult_comm_size() && fult_comm_launcher());
    if (strcmp(what, "killed") == 0) {
        failed = killed();
    } else if (strcmp(what, "departs") == 0) {
        failed = departs();
    } else if (strcmp(what, "abort") == 0) {
        if (fult_comm_rank() == 0)
            fult_comm_abort(7, "as asked for");
        for (;;) /* until that ends this rank too */
            fult_yield();
    } else if (strcmp(what, "left") == 0) {
        static int in;
        static fult_comm_request_t forgotten;
        CHECK(fult_comm_irecv(fult_comm_world(), &in, sizeof in, 0, 12, &forgotten) == FULT_SUCCESS);
    } else {
        failed = all();
        if (fult_comm_rank() == 0)
            printf("%d ranks over %s: %d failures\n", fult_comm_size(), fult_comm_route(fult_comm_size() - 1),
                   failed);
    }
    if (fult_comm_finalize() != FULT_SUCCESS) {
        fprintf(stderr, "%s\n", fult_comm_error_text());
        return 4;
    }
    CHECK(fult_comm_rank() == -1);
    CHECK(fult_finalize() == FULT_SUCCESS);
    return failed + failures != 0;
}
