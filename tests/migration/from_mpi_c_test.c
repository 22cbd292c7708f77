/* docs/from-mpi.md, row by row: the column in C. As one rank, or as several that a launcher started. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fult/comm.h>

#include "tests/support/check.h"

#define ROW(name) static void row_##name(void)

static fult_comm_endpoint_t world;
static int to, from;

static void *sends(void *number) {
    fult_comm_send(world, number, sizeof(int), to, 7);
    return NULL;
}
static void *meets(void *endpoint) {
    fult_comm_barrier(endpoint);
    return NULL;
}

struct complex {
    double x, y;
};
static void multiply(void *user, const void *left, const void *right, void *result, size_t count) {
    const struct complex *a = left, *b = right;
    struct complex *out = result;
    (void)user;
    for (size_t i = 0; i < count; ++i) {
        const struct complex both = {a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x};
        out[i] = both;
    }
}

struct place {
    double value;
    int rank;
};
static void smaller(void *user, const void *left, const void *right, void *result, size_t count) {
    const struct place *a = left, *b = right;
    struct place *out = result;
    (void)user;
    for (size_t i = 0; i < count; ++i)
        out[i] = b[i].value < a[i].value ? b[i] : a[i];
}

/* What each row but the first ones has. */
static void begin(void) {
    CHECK(fult_init(NULL) == FULT_SUCCESS && fult_comm_init(NULL) == FULT_SUCCESS);
    world = fult_comm_world();
    to = (fult_comm_rank() + 1) % fult_comm_size();
    from = (fult_comm_rank() + fult_comm_size() - 1) % fult_comm_size();
}
static void end(void) { CHECK(fult_comm_finalize() == FULT_SUCCESS && fult_finalize() == FULT_SUCCESS); }

ROW(init) {
    fult_init(NULL);
    fult_comm_init(NULL);
    CHECK(fult_comm_size() >= 1);
    end();
}

ROW(finalize) {
    begin();
    fult_comm_finalize();
    fult_finalize();
    CHECK(fult_comm_rank() == -1);
}

ROW(abort) {
    if (getenv("FULT_RUN_FD"))
        return; /* it would end all ranks */
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        begin();
        fult_comm_abort(3, "the reason");
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

ROW(init_thread) {
    int number = 5, in = 0;
    fult_task_t task;
    fult_spawn(&task, sends, &number);
    CHECK(fult_comm_recv(world, &in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in == 5);
    fult_join(task, NULL);
}

ROW(comm_rank) {
    int rank = fult_comm_rank();
    CHECK(rank >= 0);
}

ROW(comm_size) {
    int size = fult_comm_size();
    CHECK(size >= 1);
}

ROW(comm_dup) {
    fult_comm_endpoint_t apart = NULL;
    fult_comm_endpoint_create(&apart, NULL);
    int number = 1;
    fult_comm_send(apart, &number, sizeof number, to, 7);
    CHECK(fult_comm_try_probe(world, from, 7, NULL) == FULT_ERR_BUSY);
    CHECK(fult_comm_recv(apart, &number, sizeof number, from, 7, NULL) == FULT_SUCCESS);
    CHECK(fult_comm_endpoint_destroy(apart) == FULT_SUCCESS);
}

ROW(comm_free) {
    fult_comm_endpoint_t apart = NULL;
    CHECK(fult_comm_endpoint_create(&apart, NULL) == FULT_SUCCESS);
    fult_comm_endpoint_destroy(apart);
}

ROW(send) {
    const int number = 42;
    int in = 0;
    fult_comm_send(world, &number, sizeof number, to, 7);
    CHECK(fult_comm_recv(world, &in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in == 42);
}

ROW(send_many) {
    enum { n = 2 };
    const double values[n] = {1.5, 2.5};
    double in[n] = {0};
    fult_comm_send(world, values, n * sizeof *values, to, 7);
    CHECK(fult_comm_recv(world, in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in[1] == 2.5);
}

ROW(send_struct) {
    struct body {
        double x, v;
        int kind;
    } particle = {1, 2, 3}, in;
    fult_comm_send(world, &particle, sizeof particle, to, 7);
    CHECK(fult_comm_recv(world, &in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in.kind == 3);
}

ROW(send_pieces) {
    const int a = 1, b = 2;
    const fult_comm_const_buffer pieces[] = {{&a, sizeof a}, {&b, sizeof b}};
    fult_comm_sendv(world, pieces, 2, to, 7);
    int in[2] = {0};
    CHECK(fult_comm_recv(world, in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in[1] == 2);
}

ROW(recv_pieces) {
    const int out[] = {1, 2};
    int a = 0, b = 0;
    fult_comm_send(world, out, sizeof out, to, 7);
    const fult_comm_mutable_buffer rooms[] = {{&a, sizeof a}, {&b, sizeof b}};
    fult_comm_recvv(world, rooms, 2, from, 7, NULL);
    CHECK(a + 10 * b == 21);
}

ROW(bsend) {
    const int number = 6;
    int in = 0;
    while (fult_comm_enqueue(world, &number, sizeof number, to, 7) == FULT_ERR_BUSY)
        fult_yield();
    CHECK(fult_comm_recv(world, &in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in == 6);
}

ROW(recv) {
    int number = 8;
    fult_comm_send(world, &number, sizeof number, to, 7);
    number = 0;
    fult_comm_recv(world, &number, sizeof number, from, 7, NULL);
    CHECK(number == 8);
}

ROW(recv_status) {
    double values[10] = {0};
    fult_comm_send(world, values, 3 * sizeof(double), to, 7);
    fult_comm_envelope got;
    fult_comm_recv(world, values, sizeof values, from, 7, &got);
    size_t count = got.size / sizeof(double);
    CHECK(count == 3 && got.source == from && got.tag == 7);
}

ROW(recv_any) {
    fult_comm_endpoint_attr how = FULT_COMM_ENDPOINT_ATTR_INIT;
    fult_comm_endpoint_t open = NULL;
    how.wildcards = 1;
    fult_comm_endpoint_create(&open, &how);
    int number = 4;
    fult_comm_envelope got = {-1, 0, 0};
    fult_comm_send(open, &number, sizeof number, to, 9);
    fult_comm_recv(open, &number, sizeof number, FULT_COMM_ANY_SOURCE, FULT_COMM_ANY_TAG, &got);
    CHECK(got.source == from && got.tag == 9 && number == 4);
    CHECK(fult_comm_endpoint_destroy(open) == FULT_SUCCESS);
}

ROW(sendrecv) {
    const int out = fult_comm_rank();
    int in = -1;
    fult_comm_sendrecv(world, &out, sizeof out, to, 7, &in, sizeof in, from, 7, NULL);
    CHECK(in == from);
}

ROW(isend) {
    const double values[3] = {1, 2, 3};
    double in[3] = {0};
    fult_comm_request_t request = NULL;
    fult_comm_isend(world, values, sizeof values, to, 7, &request);
    CHECK(fult_comm_recv(world, in, sizeof in, from, 7, NULL) == FULT_SUCCESS && in[2] == 3);
    CHECK(fult_comm_wait(&request, NULL) == FULT_SUCCESS);
}

ROW(irecv) {
    double values[2] = {0};
    const double out[2] = {4, 5};
    fult_comm_request_t request = NULL;
    fult_comm_irecv(world, values, sizeof values, from, 7, &request);
    fult_comm_send(world, out, sizeof out, to, 7);
    CHECK(fult_comm_wait(&request, NULL) == FULT_SUCCESS && values[1] == 5);
}

static fult_comm_request_t begun(int *number, int64_t tag) {
    fult_comm_request_t request = NULL;
    CHECK(fult_comm_irecv(world, number, sizeof *number, from, tag, &request) == FULT_SUCCESS);
    return request;
}
static void say(int number, uint32_t tag) {
    CHECK(fult_comm_send(world, &number, sizeof number, to, tag) == FULT_SUCCESS);
}

ROW(wait) {
    int in = 0;
    fult_comm_request_t request = begun(&in, 7);
    fult_comm_envelope got = {-1, 0, 0};
    say(3, 7);
    fult_comm_wait(&request, &got);
    CHECK(in == 3 && got.size == sizeof in && request == NULL);
}

ROW(test) {
    int in = 0;
    fult_comm_request_t request = begun(&in, 7);
    fult_comm_envelope got;
    say(3, 7);
    while (fult_comm_test(&request, &got) == FULT_ERR_BUSY)
        fult_yield();
    CHECK(in == 3 && request == NULL);
}

ROW(waitall) {
    int in[2] = {0, 0};
    fult_comm_request_t requests[2] = {begun(&in[0], 0), begun(&in[1], 1)};
    say(1, 0);
    say(2, 1);
    fult_comm_wait_all(requests, 2, NULL, NULL);
    CHECK(in[0] + in[1] == 3);
}

ROW(waitany) {
    int in[2] = {0, 0};
    fult_comm_request_t requests[2] = {begun(&in[0], 0), begun(&in[1], 1)};
    size_t index = 9;
    fult_comm_envelope got = {-1, 0, 0};
    say(9, 1);
    say(9, 0);
    fult_comm_wait_any(requests, 2, &index, &got);
    CHECK(index < 2 && in[index] == 9 && got.tag == index && !requests[index]);
    fult_comm_wait_any(requests, 2, &index, &got);
    CHECK(in[0] + in[1] == 18);
}

ROW(cancel) {
    int in = 0, taken_back = 0;
    fult_comm_request_t request = begun(&in, 7);
    if (fult_comm_cancel(request) == FULT_SUCCESS)
        taken_back = 1;
    CHECK(taken_back && fult_comm_wait(&request, NULL) == FULT_COMM_ERR_CANCELLED);
}

ROW(probe) {
    fult_comm_envelope got = {-1, 0, 0};
    fult_comm_send(world, "five!", 5, to, 7);
    fult_comm_probe(world, from, 7, &got);
    char *text = malloc(got.size);
    CHECK(got.size == 5 && fult_comm_recv(world, text, got.size, from, 7, NULL) == FULT_SUCCESS);
    CHECK(memcmp(text, "five!", 5) == 0);
    free(text);
}

ROW(iprobe) {
    int number = 0;
    fult_comm_envelope got;
    say(1, 7);
    while (fult_comm_try_probe(world, from, 7, &got) == FULT_ERR_BUSY)
        fult_yield();
    CHECK(fult_comm_recv(world, &number, sizeof number, from, 7, NULL) == FULT_SUCCESS && number == 1);
}

ROW(win_create) {
    int memory[2] = {0};
    fult_comm_region_t mine = NULL;
    fult_comm_remote_region own, all[64];
    fult_comm_region_create(&mine, world, memory, sizeof memory);
    fult_comm_region_remote(mine, &own);
    fult_comm_allgather(world, &own, sizeof own, all);
    CHECK(all[to].rank == to);
    CHECK(fult_comm_region_destroy(mine) == FULT_SUCCESS);
}

/* Two numbers of each rank, which all others know. */
static int memory[2];
static fult_comm_region_t window;
static fult_comm_remote_region all[64];
static void open_window(int first, int second) {
    fult_comm_remote_region own;
    memory[0] = first;
    memory[1] = second;
    CHECK(fult_comm_region_create(&window, world, memory, sizeof memory) == FULT_SUCCESS);
    CHECK(fult_comm_region_remote(window, &own) == FULT_SUCCESS);
    CHECK(fult_comm_allgather(world, &own, sizeof own, all) == FULT_SUCCESS);
}
static void close_window(void) {
    CHECK(fult_comm_barrier(world) == FULT_SUCCESS && fult_comm_region_destroy(window) == FULT_SUCCESS);
}

ROW(put) {
    const int number = 5;
    open_window(0, 0);
    fult_comm_put(world, &number, sizeof number, &all[to], 4);
    close_window();
    CHECK(memory[1] == 5);
}

ROW(get) {
    int number = -1;
    open_window(0, fult_comm_rank());
    fult_comm_get(world, &number, sizeof number, &all[to], 4);
    CHECK(number == to);
    close_window();
}

ROW(rput) {
    const int number = 5;
    fult_comm_request_t request = NULL;
    open_window(0, 0);
    fult_comm_iput(world, &number, sizeof number, &all[to], 4, &request);
    CHECK(fult_comm_wait(&request, NULL) == FULT_SUCCESS);
    close_window();
    CHECK(memory[1] == 5);
}

ROW(put_notify) {
    const int number = 5;
    open_window(0, 0);
    fult_comm_put_signal(world, &number, sizeof number, &all[to], 4, 9);
    fult_comm_recv(world, NULL, 0, from, 9, NULL);
    CHECK(memory[1] == 5);
    close_window();
}

ROW(barrier) {
    fult_comm_barrier(world);
    CHECK(fult_comm_try_probe(world, from, 0, NULL) == FULT_ERR_BUSY);
}

ROW(bcast) {
    double values[3] = {0};
    if (fult_comm_rank() == 0)
        values[2] = 2.5;
    fult_comm_broadcast(world, values, sizeof values, 0);
    CHECK(values[2] == 2.5);
}

ROW(reduce) {
    const double in[3] = {1, 2, fult_comm_rank()};
    double out[3] = {0};
    fult_comm_reduce(world, in, out, 3, FULT_COMM_DOUBLE, FULT_COMM_MAX, 0);
    CHECK(fult_comm_rank() != 0 || out[2] == fult_comm_size() - 1);
}

ROW(allreduce) {
    const double mine = 0.5;
    double sum = 0;
    fult_comm_allreduce(world, &mine, &sum, 1, FULT_COMM_DOUBLE, FULT_COMM_SUM);
    CHECK(sum == 0.5 * fult_comm_size());
}

ROW(in_place) {
    double values[3] = {1, 1, 1};
    fult_comm_allreduce(world, values, values, 3, FULT_COMM_DOUBLE, FULT_COMM_SUM);
    CHECK(values[2] == fult_comm_size());
}

ROW(op_create) {
    const struct complex in[2] = {{0, 1}, {0, 1}};
    struct complex out[2] = {{0, 0}, {0, 0}};
    fult_comm_allreduce_with(world, in, out, 2, sizeof(struct complex), multiply, NULL);
    CHECK(out[1].x * out[1].x + out[1].y * out[1].y == 1);
}

ROW(minloc) {
    struct place mine, least;
    memset(&mine, 0, sizeof mine);
    mine.rank = fult_comm_rank();
    mine.value = 10 - mine.rank;
    fult_comm_allreduce_with(world, &mine, &least, 1, sizeof mine, smaller, NULL);
    CHECK(least.rank == fult_comm_size() - 1);
}

ROW(gather) {
    int mine[2] = {0, fult_comm_rank()}, all[2 * 64] = {0};
    fult_comm_gather(world, mine, sizeof mine, all, 0);
    CHECK(fult_comm_rank() != 0 || all[2 * fult_comm_size() - 1] == fult_comm_size() - 1);
}

ROW(allgather) {
    int mine[2] = {0, fult_comm_rank()}, all[2 * 64] = {0};
    fult_comm_allgather(world, mine, sizeof mine, all);
    CHECK(all[2 * fult_comm_size() - 1] == fult_comm_size() - 1);
}

ROW(alltoall) {
    int out[64] = {0}, in[64] = {0};
    for (int i = 0; i < fult_comm_size(); ++i)
        out[i] = 10 * fult_comm_rank() + i;
    fult_comm_alltoall(world, out, sizeof(int), in);
    CHECK(in[fult_comm_size() - 1] == 10 * (fult_comm_size() - 1) + fult_comm_rank());
}

ROW(alltoallv) {
    int out[3 * 64] = {0}, in[3 * 64] = {0};
    size_t out_sizes[64], in_sizes[64];
    for (int i = 0; i < fult_comm_size(); ++i) {
        out_sizes[i] = in_sizes[i] = 3 * sizeof(int);
        out[3 * i + 2] = fult_comm_rank();
    }
    fult_comm_alltoallv(world, out, out_sizes, in, in_sizes);
    CHECK(in[3 * fult_comm_size() - 1] == fult_comm_size() - 1);
}

ROW(scatter) {
    const int rank = fult_comm_rank();
    int all[2 * 64] = {0}, mine[2] = {-1, -1};
    for (int i = 0; i < fult_comm_size(); ++i)
        all[2 * i + 1] = 2 * i + 1;
    fult_comm_scatter(world, all, sizeof mine, mine, 0);
    CHECK(mine[1] == 2 * rank + 1);
}

ROW(ibarrier) {
    fult_comm_endpoint_t apart = NULL;
    fult_task_t request;
    int one = 1, sum = 0;
    CHECK(fult_comm_endpoint_create(&apart, NULL) == FULT_SUCCESS);
    fult_spawn(&request, meets, apart);
    CHECK(fult_comm_allreduce(world, &one, &sum, 1, FULT_COMM_INT32, FULT_COMM_SUM) == FULT_SUCCESS);
    fult_join(request, NULL);
    CHECK(sum == fult_comm_size());
    CHECK(fult_comm_endpoint_destroy(apart) == FULT_SUCCESS);
}

ROW(progress) {
    int in = 0;
    say(1, 7);
    while (fult_comm_try_probe(world, from, 7, NULL) == FULT_ERR_BUSY)
        fult_comm_progress();
    CHECK(fult_comm_recv(world, &in, sizeof in, from, 7, NULL) == FULT_SUCCESS);
}

ROW(error_string) {
    const double values[5] = {0};
    int number;
    fult_comm_send(world, values, sizeof values, to, 7);
    const int status = fult_comm_recv(world, &number, sizeof number, from, 7, NULL);
    if (status != FULT_SUCCESS)
        puts(fult_comm_error_text());
    CHECK(status == FULT_COMM_ERR_TRUNCATED && strstr(fult_comm_error_text(), "40 bytes"));
}

ROW(failed) { CHECK(fult_comm_failed(from) == 0); }

ROW(wtime) {
    struct timespec now;
    CHECK(timespec_get(&now, TIME_UTC) == TIME_UTC);
    timespec_get(&now, TIME_UTC);
}

int main(void) {
    static void (*const rows[])(void) = {
        row_init_thread, row_comm_rank,    row_comm_size,   row_comm_dup,    row_comm_free,  row_send,
        row_send_many,   row_send_struct,  row_send_pieces, row_recv_pieces, row_bsend,      row_recv,
        row_recv_status, row_recv_any,     row_sendrecv,    row_isend,       row_irecv,      row_wait,
        row_test,        row_waitall,      row_waitany,     row_cancel,      row_probe,      row_iprobe,
        row_win_create,  row_put,          row_get,         row_rput,        row_put_notify, row_barrier,
        row_bcast,       row_reduce,       row_allreduce,   row_in_place,    row_op_create,  row_minloc,
        row_gather,      row_allgather,    row_alltoall,    row_alltoallv,   row_scatter,    row_ibarrier,
        row_progress,    row_error_string, row_failed,      row_wtime};
    row_abort();
    row_init();
    row_finalize();
    begin();
    if (fult_comm_size() > 64)
        fult_comm_abort(2, "this program knows 64 ranks at most");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rows[i]();
        CHECK(fult_comm_barrier(world) == FULT_SUCCESS); /* the next one may use the same tag */
    }
    end();
    printf("%d failures\n", failures);
    return failures != 0;
}
