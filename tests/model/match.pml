/* A receive meets its message: match or park, and taking a receive back.
 *
 *   @large  plain
 *   @large  timed -DTIMED=1
 *   @large  all_timed -DTIMED=2
 *   @large  failed -DREAP
 *   @true   failed_timed -DREAP -DTIMED=1
 *   @large  two_servers -DSERVERS=2
 *   @true   two_servers_timed -DSERVERS=2 -DTIMED=1
 *   @large  strangers -DSTRANGER
 *   @true   strangers_timed -DSTRANGER -DTIMED=1
 *   @mutant ACCESS_TWICE               looks and inserts under the bucket's lock, but takes it twice
 *   @mutant TAKE_UNLOCKED -DSERVERS=2  takes the oldest one out after the lock was released
 *   @mutant GRANT_STORE                the grant is a look at the word, then a store
 *   @mutant GRANT_FIRST                the receive is granted before the bytes are in its buffer
 *   @mutant ASK_LATE -DSTRANGER        the task to signal is read from the receive after it was granted
 *   @mutant NO_SIGNAL                  never signals
 *   @mutant SUSPEND_PLAIN              says that it is suspended by a store, not by comparing
 *   @mutant TRUST_SIGNAL -DSTRANGER    takes any signal for its grant
 *   @mutant LEAVE_UNASKED -DTIMED=1    a receive whose time is over leaves without asking whether it is queued
 *   @mutant LEAVE_AT_ONCE -DTIMED=1    ... was matched, and does not wait for the grant that is on its way
 *   @mutant REMOVE_UNLOCKED -DTIMED=1  ... looks whether it is queued before it takes the bucket's lock
 *   @mutant REAP_UNASKED -DREAP        failing the receives of a dead peer grants one that was matched meanwhile
 *
 * Two tasks do two receives each of one key, whose receive is on their stack. SERVERS servers bring a message for each
 * of them; the order among messages is that of the bucket. The first TIMED tasks give up their first receive when
 * its time is over. REAP: the peer dies at some time; its detector takes out all receives that still wait, and grants
 * them their failure, and no message comes after it: those receives that are posted later fail at once.
 * STRANGER: the tasks get two signals that have nothing to do with any receive.
 *
 * The protocol, as the code has it:
 *
 *   access:        bucket's lock: oldest of that key is of the other kind: takes it out; else: inserts; released
 *   recv:          access(receive): a message: copies, frees it.
 *                  none: until grant == granted: grant: polling -> suspended, by comparing; suspends until a signal
 *   server:        access(message): a receive: reads the task; copies; exchange(grant, granted) was suspended: signal
 *   time is over:  remove: bucket's lock: queued: takes it out; released. Was it queued: gives up. Else waits for the grant
 *   peer is dead:  remove_if: bucket's lock: all receives; released; each: as the server, with the failure instead of bytes
 *
 * A signal is for a task, whatever it does by then: it may be late and hit the next receive, and is retained while
 * the task runs (park.pml).
 *
 * Proved: no wake-up is lost, so every receive ends; nothing is matched twice; no receive is accessed that has ended
 * or a message that was freed; a receive that ends well has its bytes, and one that gave up got none.
 */
#define TASKS   2
#define ROUNDS  2
#ifndef TIMED
#define TIMED   0
#endif
#ifndef SERVERS
#define SERVERS 1
#endif
#define MESSAGES (TASKS * ROUNDS)
#define NONE    255

mtype = { polling, suspended, granted };

bit  lock = 0;
chan receives = [TASKS] of { byte };
chan messages = [MESSAGES] of { byte };

/* the receive on each task's stack */
mtype grant[TASKS];
bit  alive[TASKS];
bit  queued[TASKS];
bit  filled[TASKS];
bit  failure[TASKS];

bit  token[TASKS];                    /* a signal of that task, not consumed */
byte used[MESSAGES];                  /* how often a message was copied */
byte to_send = 0;
bit  dead = 0;                        /* of the peer, under the bucket's lock for the sake of the model */

inline lock_bucket()   { atomic { !lock -> lock = 1 } }
inline unlock_bucket() { lock = 0 }

inline copy_message(m) { d_step { used[m]++; assert(used[m] == 1) } }

/* the taker of the receive r ends it; m: NONE is the failure */
inline finish(r, m) {
#ifndef MUTANT_GRANT_FIRST
    atomic { assert(alive[r]); assert(!filled[r] && !failure[r]);
        if :: m == NONE -> failure[r] = 1 :: else -> copy_message(m); filled[r] = 1 fi };
#endif
#ifdef MUTANT_GRANT_STORE
    atomic { assert(alive[r]); was = grant[r] };
    atomic { assert(alive[r]); grant[r] = granted };
#else
    atomic { assert(alive[r]); assert(grant[r] != granted); was = grant[r]; grant[r] = granted };
#endif
#ifdef MUTANT_GRANT_FIRST
    atomic { assert(alive[r]); assert(!filled[r] && !failure[r]);
        if :: m == NONE -> failure[r] = 1 :: else -> copy_message(m); filled[r] = 1 fi };
#endif
#ifdef MUTANT_ASK_LATE
    if :: was == suspended -> assert(alive[r]) :: else fi;
#endif
#ifndef MUTANT_NO_SIGNAL
    if :: was == suspended -> token[r] = 1 :: else fi;
#endif
    was = polling
}

proctype Server() {
    byte m, r;
    mtype was = polling;

    do
    :: atomic { to_send < MESSAGES && !dead -> m = to_send; to_send++ };
        r = NONE;
        lock_bucket();
#ifdef MUTANT_TAKE_UNLOCKED
        if :: receives?[r] -> receives?<r> :: else fi;
        unlock_bucket();
        if
        :: r != NONE -> atomic { if :: receives??[eval(r)] -> receives??eval(r) :: else fi; queued[r] = 0 }
        :: else -> messages!m
        fi;
#else
        if
        :: atomic { nempty(receives) -> receives?r; queued[r] = 0 }
        :: atomic { empty(receives) ->
#ifdef MUTANT_ACCESS_TWICE
            lock = 0 };
            lock_bucket();
            atomic {
#endif
            messages!m }
        fi;
        unlock_bucket();
#endif
        if :: r != NONE -> finish(r, m) :: else fi;
        atomic { m = 0; r = 0 }
    :: atomic { (to_send == MESSAGES || dead) -> break }
    od
}

/* the peer dies, and it is noticed */
proctype Reaper() {
    byte r, n = 0;
    mtype was = polling;
    bit mine[TASKS];

    lock_bucket();
    dead = 1;
#ifdef MUTANT_REAP_UNASKED
    for (r : 0 .. TASKS - 1) { mine[r] = queued[r] };
    unlock_bucket();
    lock_bucket();
    atomic { do :: nempty(receives) -> receives?r; queued[r] = 0 :: empty(receives) -> break od };
#else
    atomic { do :: nempty(receives) -> receives?r; queued[r] = 0; mine[r] = 1 :: empty(receives) -> break od };
#endif
    unlock_bucket();
    for (n : 0 .. TASKS - 1) {
        if :: mine[n] -> finish(n, NONE) :: else fi
    }
}

inline wait_for_grant(may_give_up) {
    do
    :: atomic { grant[me] == granted -> break }
    :: atomic { grant[me] != granted ->
#ifdef MUTANT_SUSPEND_PLAIN
        skip };
        grant[me] = suspended;
#else
        grant[me] = suspended };
#endif
        if
        :: atomic { token[me] -> token[me] = 0 };
#ifdef MUTANT_TRUST_SIGNAL
            break
#endif
        :: may_give_up -> give_up = 1; break
        fi
    od
}

inline remove() {
#ifdef MUTANT_REMOVE_UNLOCKED
    still = queued[me];
    lock_bucket();
#else
    lock_bucket();
    still = queued[me];
#endif
    atomic { if :: still -> if :: receives??[eval(me)] -> receives??eval(me) :: else fi; queued[me] = 0 :: else fi };
#ifdef MUTANT_LEAVE_UNASKED
    still = 1;
#endif
    unlock_bucket()
}

proctype Task(byte me) {
    byte m, round = 0;
    bit still, give_up, ended;

    do
    :: round < ROUNDS ->
        d_step { alive[me] = 1; grant[me] = polling; filled[me] = 0; failure[me] = 0; give_up = 0; ended = 0; m = NONE };
        lock_bucket();
        if
        :: atomic { nempty(messages) -> messages?m }
        :: atomic { empty(messages) && dead -> ended = 1 }
        :: atomic { empty(messages) && !dead ->
#ifdef MUTANT_ACCESS_TWICE
            lock = 0 };
            lock_bucket();
            atomic {
#endif
            receives!me; queued[me] = 1 }
        fi;
        unlock_bucket();
        if
        :: m != NONE -> copy_message(m)
        :: m == NONE && ended -> skip
        :: m == NONE && !ended ->
            wait_for_grant(me < TIMED && round == 0);
            if
            :: give_up ->
                remove();
                if
                :: still -> assert(!filled[me] && !failure[me])
                :: else ->
#ifndef MUTANT_LEAVE_AT_ONCE
                    wait_for_grant(0);
#endif
                    assert(filled[me] || failure[me])
                fi
            :: else -> assert(grant[me] == granted && (filled[me] || failure[me]))
            fi
        fi;
        d_step { alive[me] = 0; round++; still = 0; give_up = 0; ended = 0; m = 0 }
    :: else -> break
    od
}

#ifdef STRANGER
proctype Stranger() {
    token[0] = 1;
    if :: token[0] = 1 :: token[1] = 1 fi
}
#endif

init {
    atomic {
        byte i;
        for (i : 0 .. TASKS - 1) { grant[i] = polling; run Task(i) };
        for (i : 1 .. SERVERS) { run Server() };
#ifdef STRANGER
        run Stranger();
#endif
#ifdef REAP
        run Reaper();
#endif
        i = 0
    }
    (_nr_pr == 1);
    assert(empty(receives)) /* while messages may be left: those of receives that gave up */
}
