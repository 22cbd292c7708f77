/* A condition variable: queueing against unlocking, one waiter a notification, waits that end by their time.
 *
 *   @large  one_by_one
 *   @true   one_by_one_timed -DTIMED=1
 *   @true   two_timed -DTIMED=2
 *   @large  all -DALL
 *   @true   all_timed -DALL -DTIMED=1
 *   @large  destroyed -DDESTROY
 *   @large  all_destroyed -DALL -DDESTROY
 *   @mutant ENTER_LATE                    the waiter unlocks before it enqueues
 *   @mutant NOTIFY_LOOKS                  notify_one grants the first one, which leaves the queue itself
 *   @mutant NOTIFY_TWO                    notify_one takes out all
 *   @mutant LEAVE_UNASKED -DTIMED=1       a waiter whose time is over leaves without asking whether it is queued
 *   @mutant LEAVE_AT_ONCE -DTIMED=1       ... was notified, and does not wait for the grant that is on its way
 *   @mutant NOT_NOTIFIED -DTIMED=1        ... was notified, and reports a timeout
 *   @mutant NEXT_LATE -DALL               notify_all reads the next waiter after it has granted one
 *   @mutant GRANT_INSIDE -DDESTROY        notify_one grants before it releases the queue's lock
 *   @mutant ALL_INSIDE -DALL -DDESTROY    notify_all likewise
 *   @mutant TWICE -DTIMED=1 -DEARLY       one wait in two turns, whose clock was not there yet after the first
 *   @mutant DESTROY_TIMED -DALL -DTIMED=1 -DDESTROY   destroyed when all were notified, one of them by its time
 *
 * Three waiters wait for an item each; a notifier brings three, one by one under the user's lock, each with a
 * notify_one. ALL: one condition for all, and one notify_all. The first TIMED waiters give up when their time is over
 * and no item is there. DESTROY: the last one to leave destroys the variable if all three were notified.
 * DESTROY_TIMED: when the notifier has come back, all others have been notified, and the timed one is still about to
 * look at the queue's lock: not allowed, the user must know that a timed wait has ended. TWICE (with EARLY, which lets a
 * first turn end): between two turns it is not in the queue; a notification that comes then is lost, so each turn must
 * end with a look at the condition.
 * Waiting for a grant is one step here: see qlock.pml.
 *
 * The protocol, as the code has it:
 *
 *   wait(lock):       queue's lock: push(self); lock.unlock(); wait for the grant; lock.lock()
 *   wait, timed:      ... wait for the grant or the time; the time: leave: queue's lock: still queued: remove(self);
 *                     released; still: timeout.   Not: wait for the grant: notified
 *   notify_one:       queue's lock: w = pop(); released; w: grant
 *   notify_all:       queue's lock: takes out all as a chain; released; w.next is read, then w granted: it is gone
 *
 * Proved: no notification is lost, however it meets unlocks and timeouts: each wait without limits ends; each
 * notify_one ends one wait; a wait ends by a notification of its own or its time only; no waiter is accessed after it has
 * left, or the variable after it may have been destroyed.
 */
#define N       3
#ifndef TIMED
#define TIMED   0
#endif
#define NO_ACTOR  N

bit  user_lock = 0;
byte items = 0;                       /* the condition, under the user's lock */

bit  cv_alive = 1;
bit  cv_lock = 0;
chan waiters = [N] of { byte };

bit  queued[N];                       /* the waiter on each actor's stack */
bit  granted[N];
bit  alive[N];
byte next[N];

bit  notified[N];                         /* for the proof: notified in this wait */
byte ended = 0;
byte calls = 0;                       /* of notify_one */
byte grants = 0;

inline lock_user()  { atomic { !user_lock -> user_lock = 1 } }
inline lock_queue() { atomic { !cv_lock -> assert(cv_alive); cv_lock = 1 } }
inline unlock_queue() { atomic { assert(cv_alive); cv_lock = 0 } }

inline grant(w) {
    atomic {
        assert(alive[w]);
        granted[w] = 1; notified[w] = 1; grants++;
#ifndef ALL
        assert(grants <= calls)
#endif
    }
}

inline enter() {
    d_step { alive[me] = 1; granted[me] = 0; next[me] = NO_ACTOR; notified[me] = 0 };
    lock_queue();
    atomic { waiters!me; queued[me] = 1 };
    unlock_queue()
}

inline remove() {
    atomic {
        still = queued[me];
        if :: still -> waiters??eval(me); queued[me] = 0 :: else fi
    }
}

/* ok: notified */
inline leave() {
    lock_queue();
    remove();
#ifdef MUTANT_LEAVE_UNASKED
    still = 1;
#endif
    unlock_queue();
    if
    :: still -> ok = 0
    :: else ->
#ifndef MUTANT_LEAVE_AT_ONCE
        granted[me];
#endif
#ifdef MUTANT_NOT_NOTIFIED
        ok = 0
#else
        ok = 1
#endif
    fi
}

inline wait_within(limited) {
#ifdef MUTANT_ENTER_LATE
    user_lock = 0;
    enter();
#else
    enter();
    user_lock = 0;
#endif
    if
    :: granted[me] -> ok = 1
    :: limited && !granted[me] -> leave()
    fi;
#ifdef MUTANT_NOTIFY_LOOKS
    if :: ok -> lock_queue(); remove(); unlock_queue() :: else fi;
#endif
    assert(ok == notified[me]);
    alive[me] = 0;
    lock_user()
}

proctype Waiter(byte me) {
    bit ok, still;
#ifdef EARLY
    bit early = 1;
#endif

    lock_user();
    do
    :: items > 0 -> break
    :: items == 0 ->
        wait_within(me < TIMED);
#ifdef EARLY
        if
        :: !ok && early -> early = 0;
#ifdef MUTANT_TWICE
            wait_within(0)
#else
            skip
#endif
        :: else
        fi;
#endif
        if :: me < TIMED && !ok && items == 0 -> break :: else fi
    od;
#ifndef ALL
    if :: items > 0 -> items-- :: else fi;
#endif
    ended++;
    user_lock = 0;
#if defined(DESTROY) && !defined(MUTANT_DESTROY_TIMED)
    if :: ended == N && grants == N -> cv_alive = 0 :: else fi
#endif
}

inline notify_one() {
    lock_queue();
#ifdef MUTANT_NOTIFY_LOOKS
    atomic { if :: nempty(waiters) -> waiters?<w> :: empty(waiters) -> w = NO_ACTOR fi };
#else
    atomic { if :: nempty(waiters) -> waiters?w; queued[w] = 0 :: empty(waiters) -> w = NO_ACTOR fi };
#endif
#ifdef MUTANT_GRANT_INSIDE
    if :: w != NO_ACTOR -> grant(w) :: else fi;
    unlock_queue();
#else
    unlock_queue();
    if :: w != NO_ACTOR -> grant(w) :: else fi;
#endif
    w = NO_ACTOR
}

inline notify_all() {
    lock_queue();
    d_step {
        do
        :: nempty(waiters) ->
            waiters?w; queued[w] = 0;
            if :: first == NO_ACTOR -> first = w :: else -> next[last] = w fi;
            last = w
        :: empty(waiters) -> break
        od;
        w = first; first = NO_ACTOR
    };
#ifndef MUTANT_ALL_INSIDE
    unlock_queue();
#endif
    do
    :: w != NO_ACTOR ->
#ifdef MUTANT_NEXT_LATE
        grant(w); atomic { assert(alive[w]); w = next[w] }
#else
        atomic { assert(alive[w]); last = next[w] };
        grant(w); w = last
#endif
    :: w == NO_ACTOR -> break
    od;
#ifdef MUTANT_ALL_INSIDE
    unlock_queue();
#endif
    last = 0
}

active proctype Notifier() {
    byte w = NO_ACTOR, first = NO_ACTOR, last, i;
#ifdef ALL
    lock_user();
    items = 1;
    user_lock = 0;
    notify_all();
#ifdef MUTANT_DESTROY_TIMED
    ended >= N - TIMED;
    cv_alive = 0
#endif
#else
    do
    :: i < N ->
        lock_user();
        items++;
        user_lock = 0;
        calls++;
#ifdef MUTANT_NOTIFY_TWO
        notify_all();
#else
        notify_one();
#endif
        i++
    :: i == N -> break
    od
#endif
}

init {
    atomic {
        byte me;
        for (me : 0 .. N - 1) { run Waiter(me) }
        me = 0
    }
}
