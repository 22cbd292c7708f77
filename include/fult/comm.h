/* Messages between the tasks of several processes, in C. Contracts as in the C++ headers below fult/comm,
 * which name the sources.
 *
 * Functions that return int return 0 or a status, of fult.h or one of those below, unless they say otherwise;
 * fult_comm_strerror tells what a status means and what to do, fult_comm_error_text what was wrong just now.
 * Sizes are bytes; ranks are 0 ... fult_comm_size() - 1, tags 0 ... 2^32 - 1. Functions that wait suspend a
 * task and block a foreign thread. All but init and finalize are callable from any task and any thread. NULL
 * instead of an object, or of memory of which some is needed, is FULT_ERR_INVALID; an `about` that receives
 * what is known of a message may be NULL. Other statuses that calls may return: FULT_COMM_ERR_NO_CONTEXT for
 * all, FULT_ERR_NO_MEMORY for all that keep something. */
#ifndef FULT_COMM_H
#define FULT_COMM_H

#include <stddef.h>
#include <stdint.h>

#include <fult/fult.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return beside the statuses of fult.h. */
enum fult_comm_error {
    FULT_COMM_ERR_NO_CONTEXT = 64,  /* fult_comm_init has not been called, or fult_comm_finalize has */
    FULT_COMM_ERR_RUNNING = 65,     /* this process is a rank already */
    FULT_COMM_ERR_NETWORK = 66,     /* no provider, a launcher that does not answer, a rank that never came */
    FULT_COMM_ERR_TRUNCATED = 67,   /* the message was longer than the memory; it is gone */
    FULT_COMM_ERR_PEER_FAILED = 68, /* the other rank has ended, or cannot be reached any more */
    FULT_COMM_ERR_CANCELLED = 69,   /* the operation was taken back */
    FULT_COMM_ERR_IN_USE = 70,      /* something that must end first still goes on */
    FULT_COMM_ERR_REFUSED = 71,     /* the other rank's region is not offered any more */
    FULT_COMM_ERR_PEER_LEFT = 72    /* the other rank has finalized, and nothing that is still needed comes */
};

/* A sentence that tells what a status means and what to do, those of fult.h included; never NULL. */
FULT_API const char *fult_comm_strerror(int status);

/* What the last call that failed on the calling thread said of it: the call, the thing, the numbers and the
 * remedy. A task asks at once, before it calls anything that may suspend. Never NULL; valid until the next
 * call fails there. */
FULT_API const char *fult_comm_error_text(void);

/* Being a rank ------------------------------------------------------------------------------------------- */

/* What a context is started with. Start from FULT_COMM_OPTIONS_INIT, which leaves everything to the
 * environment and the defaults; docs/communication-options.md says what each one does. */
typedef struct fult_comm_options {
    size_t size;           /* sizeof(fult_comm_options): lets the structure grow */
    const char *same_host; /* NULL: FULT_COMM_SAME_HOST */
    const char *network;   /* NULL: FULT_COMM_NETWORK */
    const char *interface; /* NULL: FULT_COMM_INTERFACE */
    const char *server;    /* "auto", "workers", "dedicated"; NULL: FULT_COMM_SERVER */
    size_t packet_size;    /* bytes; 0: FULT_COMM_PACKET_SIZE */
    size_t packets;        /* 0: FULT_COMM_PACKETS */
    size_t rendezvous;     /* bytes; 0: FULT_COMM_RENDEZVOUS */
    size_t unexpected;     /* bytes; 0: FULT_COMM_UNEXPECTED */
    int gather;            /* 1, 0, or -1: FULT_COMM_GATHER */
    unsigned timeout;      /* seconds; 0: FULT_COMM_TIMEOUT */
    unsigned heartbeat;    /* seconds; 0: FULT_COMM_HEARTBEAT */
} fult_comm_options;
/* Leaves everything to the environment and the defaults. */
#define FULT_COMM_OPTIONS_INIT \
    { sizeof(fult_comm_options), NULL, NULL, NULL, NULL, 0, 0, 0, 0, -1, 0, 0 }

/* Makes this process a rank; all ranks do. Where no launcher started the program, the job has one. options
 * may be NULL. From a task; may suspend. FULT_ERR_NO_RUNTIME, FULT_ERR_NOT_A_TASK, FULT_ERR_INVALID (an
 * option), FULT_COMM_ERR_RUNNING, FULT_COMM_ERR_NETWORK. */
FULT_API int fult_comm_init(const fult_comm_options *options);

/* Waits for all ranks, and ends it. From a task, before fult_finalize, while no other call of this header is
 * under way; may suspend. Receives that are pending end the program with a message that lists them.
 * FULT_COMM_ERR_IN_USE: endpoints or regions are left that were not destroyed; nothing has happened. */
FULT_API int fult_comm_finalize(void);

/* This rank, how many there are; -1 and 0 without a context. Do not suspend, as all to the next heading but
 * abort. */
FULT_API int fult_comm_rank(void);
/* The number of ranks; 0 without a context. */
FULT_API int fult_comm_size(void);
/* "fult-run", "PMIx", "PMI-1", "one rank"; NULL without a context. */
FULT_API const char *fult_comm_launcher(void);
/* What carries messages to that rank: "shared", "shm", "net", "self", ...; NULL: there is no such rank. */
FULT_API const char *fult_comm_route(int rank);
/* 1: the rank is known to have ended; 0: it is not; -1: there is no such rank. */
FULT_API int fult_comm_failed(int rank);
/* Packets that came over the network from processes that are not of this job, and were refused. */
FULT_API uint64_t fult_comm_refused_packets(void);
/* Does what there is to do for messages; 1: there was something. For loops of foreign threads and of tasks
 * that never wait. */
FULT_API int fult_comm_progress(void);
/* Ends all ranks with that status (1 instead of 0); why, if not NULL, is shown. Does not return. */
FULT_API __attribute__((noreturn)) void fult_comm_abort(int status, const char *why);

/* Endpoints ---------------------------------------------------------------------------------------------- */

/* What is known of a message. */
typedef struct fult_comm_envelope {
    int source;   /* the rank that sent it */
    uint32_t tag; /* as the sender gave it */
    size_t size;  /* in bytes */
} fult_comm_envelope;

/* For receives and probes on endpoints that were made with wildcards: whichever rank, whichever tag. */
#define FULT_COMM_ANY_SOURCE (-1)
/* Whichever tag. */
#define FULT_COMM_ANY_TAG ((int64_t)-1)

/* What happens to a message that arrives. */
enum fult_comm_delivery {
    FULT_COMM_MATCHED = 0,  /* to a receive of its source and tag */
    FULT_COMM_QUEUED = 1,   /* into the endpoint's queue, for dequeue */
    FULT_COMM_HANDLED = 2,  /* to the handler, in the communication server: it must not suspend */
    FULT_COMM_AS_A_TASK = 3 /* to the handler, in a task of its own: it may */
};

/* Called with `user` of the endpoint's attributes and a message whose bytes are valid during the call only.
 */
typedef void (*fult_comm_handler_t)(void *user, const fult_comm_envelope *about, const void *data);

/* How an endpoint is made. Start from FULT_COMM_ENDPOINT_ATTR_INIT. */
typedef struct fult_comm_endpoint_attr {
    size_t size;                 /* sizeof(fult_comm_endpoint_attr) */
    int wildcards;               /* 1: receives may name any source and any tag */
    int delivery;                /* one of enum fult_comm_delivery */
    fult_comm_handler_t handler; /* for FULT_COMM_HANDLED and FULT_COMM_AS_A_TASK */
    void *user;                  /* passed to it; tasks may use it until fult_finalize */
} fult_comm_endpoint_attr;
/* Matched, without wildcards. */
#define FULT_COMM_ENDPOINT_ATTR_INIT \
    { sizeof(fult_comm_endpoint_attr), 0, FULT_COMM_MATCHED, NULL, NULL }

/* A communicator: messages of one endpoint never meet those of another. Messages of one source and tag arrive
 * in the order in which they were sent, others in any order. */
typedef struct fult_comm_endpoint *fult_comm_endpoint_t;

/* The endpoint that is always there: matched, without wildcards. NULL without a context. */
FULT_API fult_comm_endpoint_t fult_comm_world(void);
/* Makes another one; every rank makes the same ones in the same order. attr may be NULL. Does not suspend.
 * FULT_ERR_INVALID: an attribute; FULT_ERR_NO_MEMORY: also for too many endpoints. */
FULT_API int fult_comm_endpoint_create(fult_comm_endpoint_t *endpoint, const fult_comm_endpoint_attr *attr);
/* Frees it. Nobody uses it any more; receives that wait there end the program with a message. Not for the
 * world: FULT_ERR_INVALID. */
FULT_API int fult_comm_endpoint_destroy(fult_comm_endpoint_t endpoint);

/* Sending and receiving ------------------------------------------------------------------------------------
 * All may return FULT_ERR_INVALID for a rank or tag that does not exist and for a call that the endpoint was
 * not made for, FULT_COMM_ERR_PEER_FAILED where the other rank has ended, and FULT_COMM_ERR_PEER_LEFT where
 * it has finalized. */

/* Returns when the memory is the caller's again, which may be before the message arrives. May suspend. */
FULT_API int fult_comm_send(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                            uint32_t tag);
/* Receives one message; waits until it is there. FULT_COMM_ERR_TRUNCATED: it is longer than size. */
FULT_API int fult_comm_recv(fult_comm_endpoint_t endpoint, void *data, size_t size, int source, int64_t tag,
                            fult_comm_envelope *about);
/* Both at once, neither waiting for the other. May suspend. */
FULT_API int fult_comm_sendrecv(fult_comm_endpoint_t endpoint, const void *out, size_t out_size,
                                int destination, uint32_t out_tag, void *in, size_t in_size, int source,
                                int64_t in_tag, fult_comm_envelope *about);

/* A piece of a message that is gathered from several places. */
typedef struct fult_comm_piece {
    const void *data; /* where it is */
    size_t size;      /* in bytes */
} fult_comm_piece;
/* Room for a part of one that is scattered. */
typedef struct fult_comm_room {
    void *data;  /* where it comes */
    size_t size; /* in bytes */
} fult_comm_room;
/* As send, of pieces one after the other. */
FULT_API int fult_comm_sendv(fult_comm_endpoint_t endpoint, const fult_comm_piece *pieces, size_t count,
                             int destination, uint32_t tag);
/* As recv, into rooms one after the other. */
FULT_API int fult_comm_recvv(fult_comm_endpoint_t endpoint, const fult_comm_room *rooms, size_t count,
                             int source, int64_t tag, fult_comm_envelope *about);

/* What a receive would get; waits until there is something. */
FULT_API int fult_comm_probe(fult_comm_endpoint_t endpoint, int source, int64_t tag,
                             fult_comm_envelope *about);
/* The same without waiting. FULT_ERR_BUSY: there is nothing. */
FULT_API int fult_comm_try_probe(fult_comm_endpoint_t endpoint, int source, int64_t tag,
                                 fult_comm_envelope *about);

/* Sends a copy of the bytes, and never suspends. FULT_ERR_BUSY: no room at present; let others run and try
 * again. */
FULT_API int fult_comm_enqueue(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                               uint32_t tag);
/* The oldest message of a queued endpoint; *data is the caller's, and freed by fult_comm_free. Never
 * suspends. FULT_ERR_BUSY: there is none. */
FULT_API int fult_comm_dequeue(fult_comm_endpoint_t endpoint, void **data, fult_comm_envelope *about);
/* Frees what dequeue gave; NULL is nothing. */
FULT_API void fult_comm_free(void *data);

/* Requests ----------------------------------------------------------------------------------------------- */

/* A send or receive that was begun and is not looked at yet; its memory stays in use until it is complete. Of
 * one task at a time. NULL is one that is complete, of nothing: wherever a request has been looked at, NULL
 * is stored instead. Of a send an envelope says nothing: who began it knows all, and a short message that has
 * left keeps nothing. */
typedef struct fult_comm_request *fult_comm_request_t;

/* Begins a send. Never suspends. On failure there is no request. */
FULT_API int fult_comm_isend(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                             uint32_t tag, fult_comm_request_t *request);
/* Begins a receive. Never suspends. */
FULT_API int fult_comm_irecv(fult_comm_endpoint_t endpoint, void *data, size_t size, int source, int64_t tag,
                             fult_comm_request_t *request);
/* Looks at it if it is complete: what became of it, as wait. FULT_ERR_BUSY: it is not. Makes progress, never
 * suspends. */
FULT_API int fult_comm_test(fult_comm_request_t *request, fult_comm_envelope *about);
/* Waits until it is complete. FULT_COMM_ERR_TRUNCATED, FULT_COMM_ERR_PEER_FAILED, FULT_COMM_ERR_PEER_LEFT,
 * FULT_COMM_ERR_CANCELLED. */
FULT_API int fult_comm_wait(fult_comm_request_t *request, fult_comm_envelope *about);
/* Waits for all, with one wake-up, and looks at all. Returns the first failure in their order; abouts and
 * results, if not NULL, have room for `count` and receive what became of each. */
FULT_API int fult_comm_wait_all(fult_comm_request_t *requests, size_t count, fult_comm_envelope *abouts,
                                int *results);
/* Waits until one is complete and looks at it; *index tells which, `count` where all are NULL. Returns what
 * became of it. */
FULT_API int fult_comm_wait_any(fult_comm_request_t *requests, size_t count, size_t *index,
                                fult_comm_envelope *about);
/* Takes a receive back that no message has met yet; it is complete then, as cancelled. FULT_ERR_BUSY: it is
 * too late, or a send; wait for it. Never suspends. */
FULT_API int fult_comm_cancel(fult_comm_request_t request);

/* Memory that other ranks write and read -------------------------------------------------------------------
 * No task of its rank takes part. A put is complete when the bytes lie in the target's memory, a get when
 * they are in the caller's. Operations on one rank may be carried out in any order. All may return
 * FULT_ERR_INVALID for bytes that are not within the region and for a put to one that was offered for reading
 * only, FULT_COMM_ERR_REFUSED where the target has withdrawn the region, and FULT_COMM_ERR_PEER_FAILED. */

/* Memory of this rank that others may access; it stays the caller's. */
typedef struct fult_comm_region *fult_comm_region_t;

/* What a rank tells others of a region: a plain value that is sent as any other. */
typedef struct fult_comm_remote_region {
    int32_t rank;      /* whose memory it is */
    uint32_t writable; /* whether put is allowed */
    uint64_t id;       /* its name there */
    uint64_t size;     /* in bytes */
} fult_comm_remote_region;

/* Offers `size` bytes at base, on the device of that endpoint. Does not suspend. */
FULT_API int fult_comm_region_create(fult_comm_region_t *region, fult_comm_endpoint_t on, void *base,
                                     size_t size);
/* The same for get only. */
FULT_API int fult_comm_region_create_const(fult_comm_region_t *region, fult_comm_endpoint_t on,
                                           const void *base, size_t size);
/* Nobody accesses the memory afterwards; waits for what is being moved just now. Before fult_comm_finalize.
 */
FULT_API int fult_comm_region_destroy(fult_comm_region_t region);
/* What is to be told to others. Does not suspend. */
FULT_API int fult_comm_region_remote(fult_comm_region_t region, fult_comm_remote_region *remote);

/* Writes to byte `offset` of a region, of another rank or of this one; waits until it is complete. */
FULT_API int fult_comm_put(fult_comm_endpoint_t through, const void *data, size_t size,
                           const fult_comm_remote_region *to, size_t offset);
/* The same, and then a message without bytes, of that tag, arrives at the target's endpoint `through`. Not in
 * order with messages of send. */
FULT_API int fult_comm_put_signal(fult_comm_endpoint_t through, const void *data, size_t size,
                                  const fult_comm_remote_region *to, size_t offset, uint32_t tag);
/* Reads from byte `offset`; waits until it is complete. */
FULT_API int fult_comm_get(fult_comm_endpoint_t through, void *data, size_t size,
                           const fult_comm_remote_region *from, size_t offset);
/* Begins a put; never suspends. */
FULT_API int fult_comm_iput(fult_comm_endpoint_t through, const void *data, size_t size,
                            const fult_comm_remote_region *to, size_t offset, fult_comm_request_t *request);
/* Begins a put with a signal; never suspends. */
FULT_API int fult_comm_iput_signal(fult_comm_endpoint_t through, const void *data, size_t size,
                                   const fult_comm_remote_region *to, size_t offset, uint32_t tag,
                                   fult_comm_request_t *request);
/* Begins a get; never suspends. */
FULT_API int fult_comm_iget(fult_comm_endpoint_t through, void *data, size_t size,
                            const fult_comm_remote_region *from, size_t offset, fult_comm_request_t *request);

/* Operations of all ranks together -------------------------------------------------------------------------
 * Every rank calls the same ones of an endpoint in the same order, with sizes that fit; any endpoint will do.
 * All may suspend. FULT_ERR_INVALID: sizes that do not fit, a root that does not exist; FULT_COMM_ERR_IN_USE:
 * another one runs on this endpoint; FULT_COMM_ERR_PEER_FAILED: a rank has ended, and the endpoint's
 * collectives with it. */

/* The types of elements. */
enum fult_comm_type {
    FULT_COMM_INT8,
    FULT_COMM_UINT8,
    FULT_COMM_INT16,
    FULT_COMM_UINT16,
    FULT_COMM_INT32,
    FULT_COMM_UINT32,
    FULT_COMM_INT64,
    FULT_COMM_UINT64,
    FULT_COMM_FLOAT,
    FULT_COMM_DOUBLE
};

/* How elements are combined; sums and products of integers are those of their unsigned types, modulo 2^n. */
enum fult_comm_op {
    FULT_COMM_SUM,
    FULT_COMM_PRODUCT,
    FULT_COMM_MIN,
    FULT_COMM_MAX,
    FULT_COMM_AND,         /* 1 where both are nonzero, else 0 */
    FULT_COMM_OR,          /* 1 where one is nonzero */
    FULT_COMM_XOR,         /* 1 where exactly one is nonzero */
    FULT_COMM_BITWISE_AND, /* this one and the next two: of integers only */
    FULT_COMM_BITWISE_OR,
    FULT_COMM_BITWISE_XOR
};

/* One of your own: result[i] = left[i] op right[i], where the ranks of `left` stand before those of `right`.
 * result is left or right. It must be associative up to rounding and give the same for the same; it need not
 * be commutative, and must not suspend. */
typedef void (*fult_comm_reduction_t)(void *user, const void *left, const void *right, void *result,
                                      size_t count);

/* Returns when every rank has called it. */
FULT_API int fult_comm_barrier(fult_comm_endpoint_t among);
/* The root's bytes, on all ranks. */
FULT_API int fult_comm_broadcast(fult_comm_endpoint_t among, void *data, size_t size, int root);
/* out[i] = the ranks' in[i], combined in the order of the ranks; type and op are of the enums above. At the
 * root, elsewhere out may be NULL. out may be in, but overlaps in no other way. */
FULT_API int fult_comm_reduce(fult_comm_endpoint_t among, const void *in, void *out, size_t count, int type,
                              int op, int root);
/* The same on all ranks, with the same bits on all. */
FULT_API int fult_comm_allreduce(fult_comm_endpoint_t among, const void *in, void *out, size_t count,
                                 int type, int op);
/* As reduce, with an operation of your own on elements of so many bytes. */
FULT_API int fult_comm_reduce_with(fult_comm_endpoint_t among, const void *in, void *out, size_t count,
                                   size_t element, fult_comm_reduction_t op, void *user, int root);
/* As allreduce, with an operation of your own. */
FULT_API int fult_comm_allreduce_with(fult_comm_endpoint_t among, const void *in, void *out, size_t count,
                                      size_t element, fult_comm_reduction_t op, void *user);
/* All ranks' blocks of `size` bytes one after the other, by rank; at the root, elsewhere out may be NULL. */
FULT_API int fult_comm_gather(fult_comm_endpoint_t among, const void *in, size_t size, void *out, int root);
/* The same on all ranks. */
FULT_API int fult_comm_allgather(fult_comm_endpoint_t among, const void *in, size_t size, void *out);
/* The k-th block of `size` bytes of in becomes this rank's block of out on rank k. */
FULT_API int fult_comm_alltoall(fult_comm_endpoint_t among, const void *in, size_t size, void *out);
/* The same with blocks of any size: in_sizes[k] bytes for rank k, out_sizes[k] from it, without gaps. */
FULT_API int fult_comm_alltoallv(fult_comm_endpoint_t among, const void *in, const size_t *in_sizes,
                                 void *out, const size_t *out_sizes);

#ifdef __cplusplus
}
#endif

#endif
