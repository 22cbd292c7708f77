/** @file
 * Messages between tasks of several processes: the C interface. Contracts are those of the C++ headers in
 * fult/comm, which also name the sources.
 *
 * Unless stated otherwise, functions that return int return 0 or a status from fult.h or from the list below.
 * fult_comm_strerror describes a status and its remedy; fult_comm_error_text describes the last failure.
 * Sizes are in bytes. Ranks are 0 ... fult_comm_size() - 1, tags 0 ... 2^32 - 1. Functions that wait suspend
 * a task and block a foreign thread. All functions except init and finalize may be called from any task and
 * any thread. NULL for an object, or for memory that must not be empty, is FULT_ERR_INVALID; an `about` that
 * receives a message's envelope may be NULL. In addition to the listed statuses, every call may return
 * FULT_COMM_ERR_NO_CONTEXT, and every call that stores something FULT_ERR_NO_MEMORY. */
#ifndef FULT_COMM_H
#define FULT_COMM_H

#include <stddef.h>
#include <stdint.h>

#include <fult/fult.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Statuses in addition to those of fult.h. */
enum fult_comm_error {
    FULT_COMM_ERR_NO_CONTEXT = 64,  /**< fult_comm_init was not called, or fult_comm_finalize was */
    FULT_COMM_ERR_RUNNING = 65,     /**< this process is already a rank */
    FULT_COMM_ERR_NETWORK = 66,     /**< no provider, the launcher does not answer, or a rank did not start */
    FULT_COMM_ERR_TRUNCATED = 67,   /**< the message was longer than the buffer; it is lost */
    FULT_COMM_ERR_PEER_FAILED = 68, /**< the other rank has ended or is unreachable */
    FULT_COMM_ERR_CANCELLED = 69,   /**< the operation was cancelled */
    FULT_COMM_ERR_IN_USE = 70,      /**< something that must end first is still in use */
    FULT_COMM_ERR_REFUSED = 71,     /**< the other rank no longer offers the region */
    FULT_COMM_ERR_PEER_LEFT = 72 /**< the other rank has finalized, and nothing that is needed will arrive */
};

/** Describes a status, including those of fult.h, and its remedy; never NULL. */
FULT_API const char *fult_comm_strerror(int status);

/** Describes the last failure of a call on the calling thread: the call, the object, the numbers and the
 * remedy. A task must call this before anything that may suspend. Never NULL; valid until the next failure on
 * that thread. */
FULT_API const char *fult_comm_error_text(void);

/** Context ------------------------------------------------------------------------------------------------
 */

/** Options of a context. Start from FULT_COMM_OPTIONS_INIT, which takes everything from the environment and
 * the defaults. docs/communication-options.md describes each option. */
typedef struct fult_comm_options {
    size_t size;           /**< sizeof(fult_comm_options); allows the structure to grow */
    const char *same_host; /**< NULL: FULT_COMM_SAME_HOST */
    const char *network;   /**< NULL: FULT_COMM_NETWORK */
    const char *interface; /**< NULL: FULT_COMM_INTERFACE */
    const char *server;    /**< "auto", "workers", "dedicated"; NULL: FULT_COMM_SERVER */
    size_t packet_size;    /**< bytes; 0: FULT_COMM_PACKET_SIZE */
    size_t packets;        /**< 0: FULT_COMM_PACKETS */
    size_t rendezvous;     /**< bytes; 0: FULT_COMM_RENDEZVOUS */
    size_t unexpected;     /**< bytes; 0: FULT_COMM_UNEXPECTED */
    int gather;            /**< 1, 0, or -1: FULT_COMM_GATHER */
    unsigned timeout;      /**< seconds; 0: FULT_COMM_TIMEOUT */
    unsigned heartbeat;    /**< seconds; 0: FULT_COMM_HEARTBEAT */
} fult_comm_options;
/** Everything from the environment and the defaults. */
#define FULT_COMM_OPTIONS_INIT \
    { sizeof(fult_comm_options), NULL, NULL, NULL, NULL, 0, 0, 0, 0, -1, 0, 0 }

/** Makes this process a rank. Collective. If no launcher started the program, the job has one rank. options
 * may be NULL. Call it from a task; may suspend. FULT_ERR_NO_RUNTIME, FULT_ERR_NOT_A_TASK, FULT_ERR_INVALID
 * (an option), FULT_COMM_ERR_RUNNING, FULT_COMM_ERR_NETWORK. */
FULT_API int fult_comm_init(const fult_comm_options *options);

/** Waits for all ranks and ends the context. Call it from a task, before fult_finalize, while no other call
 * of this header is in progress; may suspend. Pending receives end the program with a message that lists
 * them. FULT_COMM_ERR_IN_USE: some endpoints or regions have not been destroyed; nothing was done. */
FULT_API int fult_comm_finalize(void);

/** This rank; -1 without a context. Does not suspend; neither do the functions below up to the next heading,
 * except abort. */
FULT_API int fult_comm_rank(void);
/** The number of ranks; 0 without a context. */
FULT_API int fult_comm_size(void);
/** "fult-run", "PMIx", "PMI-1", "one rank"; NULL without a context. */
FULT_API const char *fult_comm_launcher(void);
/** The transport that carries messages to a rank: "shared", "shm", "net", "self", ...; NULL: no such rank. */
FULT_API const char *fult_comm_route(int rank);
/** 1: the rank is known to have ended; 0: it is not; -1: no such rank. */
FULT_API int fult_comm_failed(int rank);
/** Number of refused network packets from processes outside this job. */
FULT_API uint64_t fult_comm_refused_packets(void);
/** Makes progress; 1: there was something to do. For loops of foreign threads and of tasks that never wait.
 */
FULT_API int fult_comm_progress(void);
/** Ends all ranks with that status (1 if it is 0); prints why unless it is NULL. Does not return. */
FULT_API __attribute__((noreturn)) void fult_comm_abort(int status, const char *why);

/** Endpoints ----------------------------------------------------------------------------------------------
 */

/** The envelope of a message. */
typedef struct fult_comm_envelope {
    int source;   /**< the rank that sent it */
    uint32_t tag; /**< as given by the sender */
    size_t size;  /**< in bytes */
} fult_comm_envelope;

/** For receives and probes on endpoints with wildcards: any rank. */
#define FULT_COMM_ANY_SOURCE (-1)
/** Any tag. */
#define FULT_COMM_ANY_TAG ((int64_t)-1)

/** What happens to an arriving message. */
enum fult_comm_delivery {
    FULT_COMM_MATCHED = 0,  /**< goes to a receive with its source and tag */
    FULT_COMM_QUEUED = 1,   /**< goes into the endpoint's queue, for dequeue */
    FULT_COMM_HANDLED = 2,  /**< goes to the handler, called while making progress: it must not suspend */
    FULT_COMM_AS_A_TASK = 3 /**< goes to the handler, run in a new task: it may suspend */
};

/** A handler. `user` comes from the endpoint's attributes; data is valid only during the call. */
typedef void (*fult_comm_handler_t)(void *user, const fult_comm_envelope *about, const void *data);

/** Attributes of an endpoint. Start from FULT_COMM_ENDPOINT_ATTR_INIT. */
typedef struct fult_comm_endpoint_attr {
    size_t size;                 /**< sizeof(fult_comm_endpoint_attr) */
    int wildcards;               /**< 1: receives may name any source and any tag */
    int delivery;                /**< one of enum fult_comm_delivery */
    fult_comm_handler_t handler; /**< for FULT_COMM_HANDLED and FULT_COMM_AS_A_TASK */
    void *user;                  /**< passed to the handler; its tasks may use it until fult_finalize */
} fult_comm_endpoint_attr;
/** Matched, without wildcards. */
#define FULT_COMM_ENDPOINT_ATTR_INIT \
    { sizeof(fult_comm_endpoint_attr), 0, FULT_COMM_MATCHED, NULL, NULL }

/** A communicator: messages of one endpoint never match those of another. Messages with the same source and
 * tag arrive in the order in which they were sent, others in any order. */
typedef struct fult_comm_endpoint *fult_comm_endpoint_t;

/** The predefined endpoint: matched, without wildcards. NULL without a context. */
FULT_API fult_comm_endpoint_t fult_comm_world(void);
/** Creates another endpoint. Every rank creates the same endpoints in the same order. attr may be NULL. Does
 * not suspend. FULT_ERR_INVALID: an attribute; FULT_ERR_NO_MEMORY: also for too many endpoints. */
FULT_API int fult_comm_endpoint_create(fult_comm_endpoint_t *endpoint, const fult_comm_endpoint_attr *attr);
/** Destroys an endpoint, which must no longer be in use; pending receives on it end the program with a
 * message. Not for the world: FULT_ERR_INVALID. */
FULT_API int fult_comm_endpoint_destroy(fult_comm_endpoint_t endpoint);
/** Creates an endpoint of some ranks of another one. Exactly those call it, each with the same list of their
 * numbers there and the same tag; it is collective among them alone. The rank of each is its position in the
 * list. Tasks may make several at once if their lists or tags differ. Waits for the others.
 * FULT_ERR_INVALID: the list names a rank twice, or lacks the caller; FULT_ERR_NO_MEMORY: also for more than
 * 2,046 endpoints at a time; FULT_COMM_ERR_PEER_FAILED, FULT_COMM_ERR_PEER_LEFT. */
FULT_API int fult_comm_endpoint_subset(fult_comm_endpoint_t *endpoint, fult_comm_endpoint_t parent,
                                       const int *ranks, size_t count, int64_t tag,
                                       const fult_comm_endpoint_attr *attr);
/** The calling rank's number in an endpoint; -1 if it is NULL. */
FULT_API int fult_comm_endpoint_rank(fult_comm_endpoint_t endpoint);
/** The number of ranks of an endpoint; 0 if it is NULL. */
FULT_API int fult_comm_endpoint_size(fult_comm_endpoint_t endpoint);
/** The number in the job of a rank of an endpoint; -1 if it has no such rank. */
FULT_API int fult_comm_world_rank(fult_comm_endpoint_t endpoint, int rank);

/** Sending and receiving ------------------------------------------------------------------------------------
 * All may return FULT_ERR_INVALID for a rank or tag that does not exist or for a call that the endpoint does
 * not allow, FULT_COMM_ERR_PEER_FAILED if the other rank has ended, and FULT_COMM_ERR_PEER_LEFT if it has
 * finalized. */

/** Returns when the memory may be reused, which may be before the message arrives. May suspend. */
FULT_API int fult_comm_send(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                            int64_t tag);
/** Like send, but returns only when a receive has matched the message. */
FULT_API int fult_comm_ssend(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                             int64_t tag);
/** Receives one message; waits for it. FULT_COMM_ERR_TRUNCATED: it is longer than size. */
FULT_API int fult_comm_recv(fult_comm_endpoint_t endpoint, void *data, size_t size, int source, int64_t tag,
                            fult_comm_envelope *about);
/** Sends and receives concurrently. May suspend. */
FULT_API int fult_comm_sendrecv(fult_comm_endpoint_t endpoint, const void *out, size_t out_size,
                                int destination, int64_t out_tag, void *in, size_t in_size, int source,
                                int64_t in_tag, fult_comm_envelope *about);

/** A buffer of a message that is gathered. */
typedef struct fult_comm_const_buffer {
    const void *data; /**< its first byte */
    size_t size;      /**< in bytes */
} fult_comm_const_buffer;
/** A buffer for a message that is scattered. */
typedef struct fult_comm_mutable_buffer {
    void *data;  /**< its first byte */
    size_t size; /**< in bytes */
} fult_comm_mutable_buffer;
/** Like send, from several buffers in order. */
FULT_API int fult_comm_sendv(fult_comm_endpoint_t endpoint, const fult_comm_const_buffer *buffers,
                             size_t count, int destination, int64_t tag);
/** Like recv, into several buffers in order. */
FULT_API int fult_comm_recvv(fult_comm_endpoint_t endpoint, const fult_comm_mutable_buffer *buffers,
                             size_t count, int source, int64_t tag, fult_comm_envelope *about);

/** Waits until a matching message is available and describes it. */
FULT_API int fult_comm_probe(fult_comm_endpoint_t endpoint, int source, int64_t tag,
                             fult_comm_envelope *about);
/** Like probe, without waiting. FULT_ERR_BUSY: no matching message; lets others run as fult_comm_test. */
FULT_API int fult_comm_try_probe(fult_comm_endpoint_t endpoint, int source, int64_t tag,
                                 fult_comm_envelope *about);

/** Sends a copy of the bytes; never suspends. FULT_ERR_BUSY: no space at present; let other tasks run, then
 * try again. */
FULT_API int fult_comm_enqueue(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                               int64_t tag);
/** Takes the oldest message of a queued endpoint. The caller owns *data and frees it with fult_comm_free.
 * FULT_ERR_BUSY: the queue is empty; lets others run as fult_comm_test. */
FULT_API int fult_comm_dequeue(fult_comm_endpoint_t endpoint, void **data, fult_comm_envelope *about);
/** Frees memory returned by dequeue; NULL is ignored. */
FULT_API void fult_comm_free(void *data);

/** Requests -----------------------------------------------------------------------------------------------
 */

/** A send or receive that has been started and whose result has not been taken. Its memory is in use until it
 * is complete. For one task at a time. NULL is an empty request, which is complete; the calls that take a
 * result store NULL. The envelope of a send is unspecified: the sender knows its contents, and a short
 * message that has been sent keeps none. */
typedef struct fult_comm_request *fult_comm_request_t;

/** Starts a send. Never suspends. On failure there is no request. */
FULT_API int fult_comm_isend(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                             int64_t tag, fult_comm_request_t *request);
/** Like isend, but complete only when a receive has matched the message. */
FULT_API int fult_comm_issend(fult_comm_endpoint_t endpoint, const void *data, size_t size, int destination,
                              int64_t tag, fult_comm_request_t *request);
/** Starts a receive. Never suspends. */
FULT_API int fult_comm_irecv(fult_comm_endpoint_t endpoint, void *data, size_t size, int source, int64_t tag,
                             fult_comm_request_t *request);
/** Takes the result if the request is complete; returns the same as wait. FULT_ERR_BUSY: it is not complete:
 * then it makes progress, and each 256th such call of a worker's tasks lets others run, as fult_yield. */
FULT_API int fult_comm_test(fult_comm_request_t *request, fult_comm_envelope *about);
/** Waits until the request is complete and takes its result. FULT_COMM_ERR_TRUNCATED,
 * FULT_COMM_ERR_PEER_FAILED, FULT_COMM_ERR_PEER_LEFT, FULT_COMM_ERR_CANCELLED. */
FULT_API int fult_comm_wait(fult_comm_request_t *request, fult_comm_envelope *about);
/** Waits for all requests, with one wake-up, and takes their results. Returns the first failure in array
 * order. abouts and results, unless NULL, have `count` elements and receive the individual results. */
FULT_API int fult_comm_wait_all(fult_comm_request_t *requests, size_t count, fult_comm_envelope *abouts,
                                int *results);
/** Waits until one request is complete and takes its result, which is returned. *index is its index, or
 * `count` if all requests are NULL. */
FULT_API int fult_comm_wait_any(fult_comm_request_t *requests, size_t count, size_t *index,
                                fult_comm_envelope *about);
/** Cancels a receive that has not been matched; it is then complete, as cancelled. FULT_ERR_BUSY: it has been
 * matched, or it is a send; wait for it. Never suspends. */
FULT_API int fult_comm_cancel(fult_comm_request_t request);

/** A message that a probe has taken out of matching: only mrecv and imrecv receive it, and one of them must.
 */
typedef struct fult_comm_message *fult_comm_message_t;
/** Like probe, and takes the message. */
FULT_API int fult_comm_mprobe(fult_comm_endpoint_t endpoint, int source, int64_t tag,
                              fult_comm_message_t *message, fult_comm_envelope *about);
/** Like mprobe, without waiting. FULT_ERR_BUSY: no matching message; *message is NULL then;
 * lets others run as fult_comm_test. */
FULT_API int fult_comm_try_mprobe(fult_comm_endpoint_t endpoint, int source, int64_t tag,
                                  fult_comm_message_t *message, fult_comm_envelope *about);
/** Receives such a message, as recv does; stores NULL. */
FULT_API int fult_comm_mrecv(fult_comm_message_t *message, void *data, size_t size,
                             fult_comm_envelope *about);
/** Starts to receive such a message; stores NULL. Never suspends. */
FULT_API int fult_comm_imrecv(fult_comm_message_t *message, void *data, size_t size,
                              fult_comm_request_t *request);

/** One-sided operations -------------------------------------------------------------------------------------
 * No task of the target takes part. A put is complete when the bytes are in the target's memory, a get when
 * they are in the caller's. Operations on one rank may be carried out in any order. All may return
 * FULT_ERR_INVALID for bytes outside the region or a put to a read-only region, FULT_COMM_ERR_REFUSED if the
 * target has deregistered the region, and FULT_COMM_ERR_PEER_FAILED. */

/** Memory of this rank that other ranks may access; the caller owns it. */
typedef struct fult_comm_region *fult_comm_region_t;

/** Describes a region to other ranks: a plain value that may be sent in a message. */
typedef struct fult_comm_remote_region {
    int32_t rank;      /**< the owner of the memory */
    uint32_t writable; /**< whether put is allowed */
    uint64_t id;       /**< identifies the region at its owner */
    uint64_t size;     /**< in bytes */
} fult_comm_remote_region;

/** Registers `size` bytes at base, on the endpoint's device. Does not suspend. */
FULT_API int fult_comm_region_create(fult_comm_region_t *region, fult_comm_endpoint_t on, void *base,
                                     size_t size);
/** Like region_create, for get only. */
FULT_API int fult_comm_region_create_const(fult_comm_region_t *region, fult_comm_endpoint_t on,
                                           const void *base, size_t size);
/** Deregisters the memory: no rank accesses it afterwards. Waits for transfers in progress. Call it before
 * fult_comm_finalize. */
FULT_API int fult_comm_region_destroy(fult_comm_region_t region);
/** The description for other ranks. Does not suspend. */
FULT_API int fult_comm_region_remote(fult_comm_region_t region, fult_comm_remote_region *remote);

/** Writes at byte `offset` of a region of any rank, including this one; waits until complete. */
FULT_API int fult_comm_put(fult_comm_endpoint_t through, const void *data, size_t size,
                           const fult_comm_remote_region *to, size_t offset);
/** Like put; then an empty message with that tag arrives at the target's endpoint `through`. Not ordered with
 * messages of send. */
FULT_API int fult_comm_put_signal(fult_comm_endpoint_t through, const void *data, size_t size,
                                  const fult_comm_remote_region *to, size_t offset, int64_t tag);
/** Reads from byte `offset`; waits until complete. */
FULT_API int fult_comm_get(fult_comm_endpoint_t through, void *data, size_t size,
                           const fult_comm_remote_region *from, size_t offset);
/** Starts a put; never suspends. */
FULT_API int fult_comm_iput(fult_comm_endpoint_t through, const void *data, size_t size,
                            const fult_comm_remote_region *to, size_t offset, fult_comm_request_t *request);
/** Starts a put with a signal; never suspends. */
FULT_API int fult_comm_iput_signal(fult_comm_endpoint_t through, const void *data, size_t size,
                                   const fult_comm_remote_region *to, size_t offset, int64_t tag,
                                   fult_comm_request_t *request);
/** Starts a get; never suspends. */
FULT_API int fult_comm_iget(fult_comm_endpoint_t through, void *data, size_t size,
                            const fult_comm_remote_region *from, size_t offset, fult_comm_request_t *request);

/** Collective operations ------------------------------------------------------------------------------------
 * Every rank calls the same operations of an endpoint in the same order, with matching sizes. Any
 * endpoint may be used. All may suspend. FULT_ERR_INVALID: sizes that do not match, a root that does not
 * exist; FULT_COMM_ERR_IN_USE: another operation is running on this endpoint; FULT_COMM_ERR_PEER_FAILED: a
 * rank has ended, and this endpoint's collectives can no longer be used. */

/** Element types. */
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

/** Operators. Integer sums and products are those of the unsigned types, modulo 2^n. */
enum fult_comm_op {
    FULT_COMM_SUM,
    FULT_COMM_PRODUCT,
    FULT_COMM_MIN,
    FULT_COMM_MAX,
    FULT_COMM_AND,         /**< 1 if both are nonzero, else 0 */
    FULT_COMM_OR,          /**< 1 if at least one is nonzero, else 0 */
    FULT_COMM_XOR,         /**< 1 if exactly one is nonzero, else 0 */
    FULT_COMM_BITWISE_AND, /**< this and the next two: integers only */
    FULT_COMM_BITWISE_OR,
    FULT_COMM_BITWISE_XOR
};

/** A user-defined operator: result[i] = left[i] op right[i], where the ranks of `left` precede those of
 * `right`. result is left or right. It must be associative up to rounding and deterministic; it need not be
 * commutative, and must not suspend. */
typedef void (*fult_comm_reduction_t)(void *user, const void *left, const void *right, void *result,
                                      size_t count);

/** Returns when every rank has called it. */
FULT_API int fult_comm_barrier(fult_comm_endpoint_t among);
/** Copies the root's bytes to all ranks. */
FULT_API int fult_comm_broadcast(fult_comm_endpoint_t among, void *data, size_t size, int root);
/** out[i] = all ranks' in[i], combined in rank order; type and op are from the enums above. The result is
 * stored at the root; elsewhere out may be NULL. out may equal in; otherwise they must not overlap. */
FULT_API int fult_comm_reduce(fult_comm_endpoint_t among, const void *in, void *out, size_t count, int type,
                              int op, int root);
/** Like reduce, with the result on all ranks, bitwise identical. */
FULT_API int fult_comm_allreduce(fult_comm_endpoint_t among, const void *in, void *out, size_t count,
                                 int type, int op);
/** Like reduce, with a user-defined operator on elements of `element` bytes. */
FULT_API int fult_comm_reduce_with(fult_comm_endpoint_t among, const void *in, void *out, size_t count,
                                   size_t element, fult_comm_reduction_t op, void *user, int root);
/** Like allreduce, with a user-defined operator. */
FULT_API int fult_comm_allreduce_with(fult_comm_endpoint_t among, const void *in, void *out, size_t count,
                                      size_t element, fult_comm_reduction_t op, void *user);
/** Concatenates all ranks' blocks of `size` bytes, by rank, at the root; elsewhere out may be NULL. */
FULT_API int fult_comm_gather(fult_comm_endpoint_t among, const void *in, size_t size, void *out, int root);
/** Like gather, on all ranks. */
FULT_API int fult_comm_allgather(fult_comm_endpoint_t among, const void *in, size_t size, void *out);
/** The k-th block of `size` bytes of in becomes this rank's block of out on rank k. */
FULT_API int fult_comm_alltoall(fult_comm_endpoint_t among, const void *in, size_t size, void *out);
/** Like alltoall, with blocks of any size: in_sizes[k] bytes for rank k, out_sizes[k] from it, no gaps. */
FULT_API int fult_comm_alltoallv(fult_comm_endpoint_t among, const void *in, const size_t *in_sizes,
                                 void *out, const size_t *out_sizes);
/** The root's k-th block of `size` bytes becomes `out` on rank k; elsewhere in may be NULL. */
FULT_API int fult_comm_scatter(fult_comm_endpoint_t among, const void *in, size_t size, void *out, int root);
/** Like gather, scatter and allgather with blocks of any size: sizes[k] bytes of rank k, in order and without
 * gaps. `size` is the caller's own. Only the root needs the sizes; for allgatherv every rank does. */
FULT_API int fult_comm_gatherv(fult_comm_endpoint_t among, const void *in, size_t size, void *out,
                               const size_t *sizes, int root);
/** See gatherv. */
FULT_API int fult_comm_scatterv(fult_comm_endpoint_t among, const void *in, const size_t *sizes, void *out,
                                size_t size, int root);
/** See gatherv. */
FULT_API int fult_comm_allgatherv(fult_comm_endpoint_t among, const void *in, size_t size, void *out,
                                  const size_t *sizes);
/** Reduces `in`, and gives counts[k] elements of the result to rank k, in order. */
FULT_API int fult_comm_reduce_scatter(fult_comm_endpoint_t among, const void *in, void *out,
                                      const size_t *counts, int type, int op);
/** out[i] = the in[i] of the ranks up to this one, combined. out may be in. */
FULT_API int fult_comm_scan(fult_comm_endpoint_t among, const void *in, void *out, size_t count, int type,
                            int op);
/** The same without this rank's own; rank 0's out is not accessed, and may be NULL. */
FULT_API int fult_comm_exscan(fult_comm_endpoint_t among, const void *in, void *out, size_t count, int type,
                              int op);

#ifdef __cplusplus
}
#endif

#endif
