/* A barrier over several queues: phases, tokens, dropping, the chain of waiters of another worker, destruction.
 *
 *   @true   wait_all -DROUNDS=2
 *   @large  one_token -DA=TOKEN
 *   @true   two_tokens -DA=TOKEN -DB=TOKEN
 *   @large  dropped -DA=DROP
 *   @large  dropped_token -DA=DROP -DB=TOKEN
 *   @mutant NO_TAG -DA=TOKEN           the sweep takes every queued waiter, whatever phase it waits for
 *   @mutant LATE_PENDING -DA=TOKEN     the next phase begins before its count is there
 *   @mutant LINE_LATE                  enqueues after its arrival
 *   @mutant GRANT_SWEEPING             grants the waiters of each queue before it looks at the next one
 *   @mutant NO_RECHECK -DA=TOKEN       wait(token) does not look at the phase again once it is queued
 *   @mutant RECHECK_UNASKED -DA=TOKEN  ... and leaves without a check whether it is still queued
 *   @mutant USED_LATE -DA=TOKEN        ... and marks its queue as used only after that check
 *   @mutant USED_FIRST -DA=TOKEN       the sweep reads which queues are used before the next phase begins
 *   @mutant LEADER_ALONE               the first waiter of another worker does not grant those behind it
 *   @mutant SUBJECT_LATE               ... learns of them after it was granted
 *   @mutant NEXT_LATE                  ... reads the next waiter after it has granted one
 *   @mutant SELF_STAYS                 the last one to arrive does not grant itself
 *   @mutant DROP_LATE -DA=DROP         says that it drops after its arrival
 *
 * Three participants, two phases (ROUNDS). A, B: TOKEN: arrives and waits apart; DROP: arrives once and drops; else, as
 * the third one, it arrives and waits at once. The first one suspends on the worker of queue 0, the others on that of
 * queue 1; the third one is pinned at times, and waits in the last queue then. A phase is completed on any worker.
 * If no task waits with a token, the first one that has ended its last wait destroys the barrier. Waiting for a grant
 * is one step here: see qlock.pml.
 *
 * The protocol, as the code has it:
 *
 *   arrive_and_wait:  tag = phase; push(self); last = (pending.fetch_sub(1) == 1); last: completion(), complete(self);
 *                     wait for the grant, release(subject)
 *   push(self):       used.fetch_or(its queue) unless it is there; queue's lock: push
 *   arrive:           token = phase; last = ...; last: completion(), complete(none)
 *   arrive_and_drop:  expected.fetch_sub(1); as arrive
 *   wait(token):      phase != token: return. tag = token; push(self);
 *                     phase != token: queue's lock: still queued: remove(self), return
 *                     wait for the grant, release(subject)
 *   complete(self):   ended = phase; pending = expected; phase = ended + 1; now = {}; for each queue that is used:
 *                       queue's lock: take out all whose tag is ended; self: granted by itself
 *                       own queue, or that of the pinned and the foreign: to now
 *                       else the first one becomes a leader, the others its subject
 *                     then grant all leaders and all of now    [the barrier may be gone from here on]
 *   release(chain):   w.next is read, then w granted: it is gone afterwards
 *
 * Proved: no task continues before all have arrived and the completion function has run; none is left behind; none
 * accesses a waiter that has left, or the barrier once it may be destroyed; never more arrivals than are expected.
 */
#define N       3
#define QUEUES  3
#define PINNED  2                      /* the queue of pinned tasks and foreign threads */

#define WAIT    0
#define TOKEN   1
#define DROP    2
#ifndef A
#define A WAIT
#endif
#ifndef B
#define B WAIT
#endif
#ifndef ROUNDS
#define ROUNDS  2
#endif
#if A == TOKEN || B == TOKEN
#define KEPT                           /* not destroyed */
#endif

#define NO_ACTOR  N

typedef waiter_queue { chan list = [N] of { byte }; bit lock }
waiter_queue q[QUEUES];
byte pending = N;
byte phase = 0;
byte expected = N;
byte used = 0;
bit  barrier_alive = 1;

bit  granted[N];                       /* the waiter on each participant's stack */
bit  alive[N];
bit  queued[N];
byte tag[N];
byte subject[N];                       /* the chain that it is to grant */
byte next[N];

byte arrived[ROUNDS];                  /* for the proof */
byte needed[ROUNDS];
bit  completed[ROUNDS];

#define touch assert(barrier_alive)

inline new_waiter() {
    d_step { alive[me] = 1; granted[me] = 0; subject[me] = NO_ACTOR; next[me] = NO_ACTOR }
}
inline end_waiter() { d_step { alive[me] = 0; granted[me] = 0; subject[me] = NO_ACTOR; next[me] = NO_ACTOR; tag[me] = 0 } }

inline grant(w) { atomic { assert(alive[w] && !queued[w]); granted[w] = 1 } }

inline say_used() {
    if
    :: atomic { used & (1 << mine) -> touch }
    :: atomic { !(used & (1 << mine)) -> touch }; atomic { touch; used = used | (1 << mine) }
    fi
}

inline push() {
    if
    :: me == 0 -> mine = 0
    :: me != 0 -> mine = 1
    :: me == N - 1 -> mine = PINNED
    fi;
#ifdef MUTANT_USED_LATE
    if :: kind != TOKEN -> say_used() :: else fi;
#else
    say_used();
#endif
    atomic { !q[mine].lock -> touch; q[mine].lock = 1; q[mine].list!me; queued[me] = 1 };
    atomic { touch; q[mine].lock = 0 }
}

/* the count, and whether it was the last of the phase */
inline arrive() {
    atomic {
        touch; assert(pending > 0);
        pending--; last = (pending == 0); arrived[round]++
    }
}

inline completion() {
    atomic {
        assert(phase == round && arrived[round] == needed[round] && !completed[round]);
        completed[round] = 1
    }
}

/* one queue; those taken out are in `now` or in the leader's chain */
inline sweep() {
    atomic { !q[i].lock -> touch; q[i].lock = 1; k = len(q[i].list); leader = NO_ACTOR; tail = NO_ACTOR };
    d_step {
        do
        :: k > 0 ->
            k--; q[i].list?w;
            if
#ifndef MUTANT_NO_TAG
            :: tag[w] != ended -> q[i].list!w
            :: tag[w] == ended ->
#else
            :: true ->
#endif
#ifndef MUTANT_SELF_STAYS
                queued[w] = 0;
                if
                :: w == self -> granted[w] = 1
#else
                if
                :: w == self -> q[i].list!w
#endif
                :: w != self && (i == own || i == PINNED) -> queued[w] = 0; now!w
                :: w != self && !(i == own || i == PINNED) ->
                    queued[w] = 0;
                    if
                    :: leader == NO_ACTOR -> leader = w; leaders!w
                    :: leader != NO_ACTOR && tail == NO_ACTOR -> /* the first one of the leader's chain */
#ifdef MUTANT_SUBJECT_LATE
                        late = w;
#else
                        subject[leader] = w;
#endif
                        tail = w
                    :: leader != NO_ACTOR && tail != NO_ACTOR -> next[tail] = w; tail = w
                    fi
                fi
            fi
        :: k == 0 -> break
        od;
        w = 0; tail = 0
    };
    atomic { touch; q[i].lock = 0 }
}

inline grant_all() {
    do
    :: leaders?w -> grant(w);
#ifdef MUTANT_SUBJECT_LATE
        atomic { subject[w] = late; late = NO_ACTOR }
#endif
    :: empty(leaders) && nempty(now) -> now?w; grant(w)
    :: empty(leaders) && empty(now) -> break
    od;
    w = 0
}

inline complete(by) {
    self = by;
    ended = phase;
#ifdef MUTANT_USED_FIRST
    atomic { touch; seen = used };
#endif
#ifdef MUTANT_LATE_PENDING
    atomic { touch; phase = ended + 1 };
    atomic { touch; pending = expected };
#else
    atomic { touch; pending = expected; if :: round + 1 < ROUNDS -> needed[round + 1] = expected :: else fi };
    atomic { touch; phase = ended + 1 };
#endif
#ifndef MUTANT_USED_FIRST
    atomic { touch; seen = used };
#endif
    if :: own = 0 :: own = 1 :: own = PINNED fi;
    i = 0;
    do
    :: i < QUEUES ->
        if :: seen & (1 << i) -> sweep() :: else fi;
#ifdef MUTANT_GRANT_SWEEPING
        grant_all();
#endif
        i++
    :: i == QUEUES -> break
    od;
    grant_all();
    d_step { i = 0; own = 0; leader = 0; ended = 0; seen = 0; self = 0 }
}

inline wait_enqueued() {
    granted[me];
#ifndef MUTANT_LEADER_ALONE
    w = subject[me];
    do
    :: w != NO_ACTOR ->
#ifdef MUTANT_NEXT_LATE
        grant(w); atomic { assert(alive[w]); w = next[w] }
#else
        atomic { assert(alive[w]); follower = next[w] };
        grant(w); w = follower
#endif
    :: w == NO_ACTOR -> break
    od;
    w = 0; follower = 0;
#endif
    end_waiter()
}

inline gone_on() { assert(completed[round]) }

proctype Participant(byte me; byte kind) {
    byte round, mine, w, k, i, own, leader, tail, ended, seen, self, follower;
    bit last, still;
#ifdef MUTANT_SUBJECT_LATE
    byte late = NO_ACTOR;
#endif
    chan leaders = [N] of { byte };
    chan now = [N] of { byte };

    do
    :: round < ROUNDS && kind == WAIT ->
        new_waiter();
        atomic { touch; tag[me] = phase };
#ifdef MUTANT_LINE_LATE
        arrive(); push();
#else
        push(); arrive();
#endif
        if :: last -> completion(); complete(me) :: else fi;
        wait_enqueued();
        gone_on(); round++
    :: round < ROUNDS && kind == TOKEN ->
        /* the token's phase is that of the round: no task continues without this arrival */
        assert(phase == round);
        arrive();
        if :: last -> completion(); complete(NO_ACTOR) :: else fi;
        if
        :: phase != round -> skip
        :: phase == round ->
            atomic { new_waiter(); tag[me] = round };
            push();
#ifdef MUTANT_NO_RECHECK
            wait_enqueued();
#else
            if
            :: phase == round ->
#ifdef MUTANT_USED_LATE
                say_used();
#endif
                wait_enqueued()
            :: phase != round ->
                atomic {
                    !q[mine].lock;
#ifdef MUTANT_RECHECK_UNASKED
                    still = 1;
                    if :: queued[me] -> q[mine].list??eval(me); queued[me] = 0 :: else fi
#else
                    still = queued[me];
                    if :: still -> q[mine].list??eval(me); queued[me] = 0 :: else fi
#endif
                };
                if :: still -> end_waiter() :: else -> wait_enqueued() fi;
                still = 0
            fi
#endif
        fi;
        gone_on(); round++
    :: round < ROUNDS && kind == DROP ->
#ifdef MUTANT_DROP_LATE
        arrive();
        atomic { touch; expected-- };
#else
        atomic { touch; expected-- };
        arrive();
#endif
        if :: last -> completion(); complete(NO_ACTOR) :: else fi;
        goto left
    :: round == ROUNDS -> break
    od;
#ifndef KEPT
    barrier_alive = 0;
#endif
left:
    skip
}

init {
    atomic {
        needed[0] = N;
        run Participant(0, A);
        run Participant(1, B);
        run Participant(2, WAIT)
    }
}
