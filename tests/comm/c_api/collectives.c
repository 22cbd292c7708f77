/* Operations of all ranks together: each type with each operation, and one of the user's own. */
#include <stdlib.h>
#include <string.h>

#include <fult/comm.h>

#include "tests/comm/c_api/cases.h"
#include "tests/support/check.h"

/* The value of a rank, small, so that products of few ranks fit each type. */
static int value(int rank) { return rank % 2 == 0 ? 3 : 2; }

static long long expected(int op) {
    long long all = value(0);
    for (int rank = 1; rank < fult_comm_size(); ++rank) {
        const long long v = value(rank);
        switch (op) {
        case FULT_COMM_SUM:
            all += v;
            break;
        case FULT_COMM_PRODUCT:
            all *= v;
            break;
        case FULT_COMM_MIN:
            all = v < all ? v : all;
            break;
        case FULT_COMM_MAX:
            all = v > all ? v : all;
            break;
        case FULT_COMM_AND:
            all = all && v;
            break;
        case FULT_COMM_OR:
            all = all || v;
            break;
        case FULT_COMM_XOR:
            all = !all != !v;
            break;
        case FULT_COMM_BITWISE_AND:
            all &= v;
            break;
        case FULT_COMM_BITWISE_OR:
            all |= v;
            break;
        default:
            all ^= v;
        }
    }
    return all;
}

#define EACH_OPERATION(T, name, last)                                                                  \
    for (int op = FULT_COMM_SUM; op <= (last); ++op) {                                                 \
        const T in[3] = {(T)value(fult_comm_rank()), (T)value(fult_comm_rank()), 0};                   \
        T out[3] = {9, 9, 9}, at_root[3] = {9, 9, 9};                                                  \
        const int root = fult_comm_size() - 1;                                                         \
        CHECK(fult_comm_allreduce(e, in, out, 2, name, op) == FULT_SUCCESS);                           \
        CHECK(out[0] == (T)expected(op) && out[1] == out[0] && out[2] == 9);                           \
        CHECK(fult_comm_reduce(e, in, fult_comm_rank() == root ? at_root : NULL, 2, name, op, root) == \
              FULT_SUCCESS);                                                                           \
        CHECK(at_root[0] == (fult_comm_rank() == root ? out[0] : 9));                                  \
    }

static void each_type(fult_comm_endpoint_t e) {
    EACH_OPERATION(int8_t, FULT_COMM_INT8, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(uint8_t, FULT_COMM_UINT8, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(int16_t, FULT_COMM_INT16, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(uint16_t, FULT_COMM_UINT16, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(int32_t, FULT_COMM_INT32, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(uint32_t, FULT_COMM_UINT32, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(int64_t, FULT_COMM_INT64, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(uint64_t, FULT_COMM_UINT64, FULT_COMM_BITWISE_XOR)
    EACH_OPERATION(float, FULT_COMM_FLOAT, FULT_COMM_XOR)
    EACH_OPERATION(double, FULT_COMM_DOUBLE, FULT_COMM_XOR)
}

/* Nothing overflows: sums of integers are those of their unsigned types. */
static void at_the_border(fult_comm_endpoint_t e) {
    const int32_t most = INT32_MAX;
    uint32_t sum = 0, product = 1;
    int32_t out = 0;
    for (int rank = 0; rank < fult_comm_size(); ++rank)
        sum += (uint32_t)most, product *= (uint32_t)most;
    CHECK(fult_comm_allreduce(e, &most, &out, 1, FULT_COMM_INT32, FULT_COMM_SUM) == FULT_SUCCESS);
    CHECK((uint32_t)out == sum);
    CHECK(fult_comm_allreduce(e, &most, &out, 1, FULT_COMM_INT32, FULT_COMM_PRODUCT) == FULT_SUCCESS);
    CHECK((uint32_t)out == product);
}

/* Strings of ranks, put one behind the other: associative, and not commutative. */
struct word {
    char text[16];
};
static void concatenate(void *user, const void *left, const void *right, void *result, size_t count) {
    const struct word *a = left, *b = right;
    struct word *to = result;
    for (size_t i = 0; i < count; ++i) {
        struct word both = a[i]; /* the result is a or b */
        strncat(both.text, b[i].text, sizeof both.text - strlen(both.text) - 1);
        to[i] = both;
    }
    ++*(int *)user;
}

static void by_a_function(fult_comm_endpoint_t e) {
    enum { many = 20000 };
    struct word *in = calloc(many, sizeof *in), *out = calloc(many, sizeof *out), expect = {{0}};
    int calls = 0, wrong = 0;
    for (int rank = 0; rank < fult_comm_size(); ++rank)
        expect.text[rank] = (char)('a' + rank);
    for (int i = 0; i < many; ++i)
        in[i].text[0] = (char)('a' + fult_comm_rank());
    static const size_t counts[] = {1, 7, many}; /* small, and split among the ranks */
    for (int k = 0; k < 3; ++k) {
        const size_t count = counts[k];
        memset(out, 0, many * sizeof *out);
        CHECK(fult_comm_allreduce_with(e, in, out, count, sizeof *in, concatenate, &calls) == FULT_SUCCESS);
        for (size_t i = 0; i < count; ++i)
            wrong += memcmp(&out[i], &expect, sizeof expect) != 0;
        for (int root = 0; root < fult_comm_size(); ++root) {
            memset(out, 0, many * sizeof *out);
            CHECK(fult_comm_reduce_with(e, in, out, count, sizeof *in, concatenate, &calls, root) ==
                  FULT_SUCCESS);
            for (size_t i = 0; i < count && root == fult_comm_rank(); ++i)
                wrong += memcmp(&out[i], &expect, sizeof expect) != 0;
        }
    }
    CHECK(wrong == 0);
    CHECK(fult_comm_size() == 1 || calls > 0);
    free(in);
    free(out);
}

static void blocks(fult_comm_endpoint_t e) {
    const int size = fult_comm_size(), rank = fult_comm_rank();
    enum { most = 16 };
    int root_has = rank == 0 ? 77 : 0;
    CHECK(fult_comm_broadcast(e, &root_has, sizeof root_has, 0) == FULT_SUCCESS && root_has == 77);

    int in[2 * most], out[2 * most] = {0};
    in[0] = rank, in[1] = rank * 10;
    CHECK(fult_comm_gather(e, in, 2 * sizeof(int), rank == 0 ? out : NULL, 0) == FULT_SUCCESS);
    for (int from = 0; from < size; ++from)
        CHECK(out[2 * from + 1] == (rank == 0 ? from * 10 : 0));
    CHECK(fult_comm_allgather(e, in, 2 * sizeof(int), out) == FULT_SUCCESS);
    for (int from = 0; from < size; ++from)
        CHECK(out[2 * from] == from && out[2 * from + 1] == from * 10);

    for (int to = 0; to < size; ++to)
        in[to] = rank * 100 + to;
    CHECK(fult_comm_alltoall(e, in, sizeof(int), out) == FULT_SUCCESS);
    for (int from = 0; from < size; ++from)
        CHECK(out[from] == from * 100 + rank);

    /* To rank k so many bytes as k and this rank say together. */
    char going[most * most], coming[most * most];
    size_t in_sizes[most], out_sizes[most], total = 0, at = 0;
    for (int to = 0; to < size; ++to) {
        in_sizes[to] = out_sizes[to] = (size_t)(rank + to) % most;
        memset(going + total, 'A' + rank, in_sizes[to]);
        total += in_sizes[to];
    }
    CHECK(fult_comm_alltoallv(e, going, in_sizes, coming, out_sizes) == FULT_SUCCESS);
    for (int from = 0; from < size; ++from)
        for (size_t i = 0; i < out_sizes[from]; ++i)
            CHECK(coming[at++] == 'A' + from);
}

/* Blocks of rank + 1 numbers, which are 100 times the rank and more. */
static void parts_of_any_size(fult_comm_endpoint_t e) {
    const int ranks = fult_comm_size(), rank = fult_comm_rank(), root = ranks - 1;
    const size_t own = (size_t)rank + 1, total = (size_t)ranks * ((size_t)ranks + 1) / 2;
    int *all = malloc(total * sizeof(int)), *in = malloc(own * sizeof(int)), *got = malloc(own * sizeof(int));
    int *joined = malloc(total * sizeof(int));
    size_t *sizes = malloc((size_t)ranks * sizeof(size_t)), *counts = malloc((size_t)ranks * sizeof(size_t));
    size_t at = 0, before = 0;
    for (int r = 0; r < ranks; ++r) {
        counts[r] = (size_t)r + 1;
        sizes[r] = counts[r] * sizeof(int);
        before += r < rank ? counts[r] : 0;
        for (int i = 0; i <= r; ++i)
            all[at++] = 100 * r + i;
    }
    for (int i = 0; i <= rank; ++i)
        in[i] = 100 * rank + i;
    const size_t bytes = own * sizeof(int);
    CHECK(fult_comm_gatherv(e, in, bytes, joined, rank == root ? sizes : NULL, root) == FULT_SUCCESS);
    CHECK(rank != root || memcmp(joined, all, total * sizeof(int)) == 0);
    CHECK(fult_comm_scatterv(e, rank == root ? all : NULL, rank == root ? sizes : NULL, got, bytes, root) ==
          FULT_SUCCESS);
    CHECK(memcmp(got, in, bytes) == 0);
    memset(joined, 0, total * sizeof(int));
    CHECK(fult_comm_allgatherv(e, in, bytes, joined, sizes) == FULT_SUCCESS);
    CHECK(memcmp(joined, all, total * sizeof(int)) == 0);
    CHECK(fult_comm_scatter(e, rank == 0 ? all : NULL, sizeof(int), got, 0) == FULT_SUCCESS);
    CHECK(got[0] == all[rank]);
    CHECK(fult_comm_reduce_scatter(e, all, got, counts, FULT_COMM_INT32, FULT_COMM_SUM) == FULT_SUCCESS);
    for (size_t i = 0; i < own; ++i)
        CHECK(got[i] == ranks * all[before + i]);
    int one = rank + 1, sum = -1;
    CHECK(fult_comm_scan(e, &one, &sum, 1, FULT_COMM_INT32, FULT_COMM_SUM) == FULT_SUCCESS);
    CHECK(sum == (rank + 1) * (rank + 2) / 2);
    CHECK(fult_comm_exscan(e, &one, rank == 0 ? NULL : &sum, 1, FULT_COMM_INT32, FULT_COMM_SUM) ==
          FULT_SUCCESS);
    CHECK(rank == 0 || sum == rank * (rank + 1) / 2);
    CHECK(fult_comm_allgatherv(e, in, bytes, joined, NULL) == FULT_ERR_INVALID);
    free(counts);
    free(sizes);
    free(joined);
    free(got);
    free(in);
    free(all);
}

int check_collectives(void) {
    fult_comm_endpoint_t e;
    CHECK(fult_comm_endpoint_create(&e, NULL) == FULT_SUCCESS);
    for (int i = 0; i < 5; ++i)
        CHECK(fult_comm_barrier(e) == FULT_SUCCESS);
    each_type(e);
    at_the_border(e);
    by_a_function(e);
    blocks(e);
    parts_of_any_size(e);
    CHECK(fult_comm_barrier(fult_comm_world()) == FULT_SUCCESS);
    CHECK(fult_comm_endpoint_destroy(e) == FULT_SUCCESS);
    return failures;
}
