/* The lock with a queue, and the waiter that all of fult::sync waits with.
 *
 *   @true   plain
 *   @true   timed -DTIMED=1
 *   @true   two_timed -DTIMED=2
 *   @true   never_free -DTIMED=2 -DHOLD
 *   @true   keep -DKEEP
 *   @true   keep_timed -DKEEP -DTIMED=1
 *   @mutant TRUST_WANTED -DTIMED=1      unlock has seen `wanted` and relies on a first waiter under the queue's lock
 *   @mutant OPEN_IN_PLACE -DTIMED=1     ... finds none there, and stores `open` while it still holds that lock
 *   @mutant GRANT_INSIDE                the next owner is granted before the queue's lock is released
 *   @mutant UNLOCK_PLAIN                unlock stores `open` without comparing
 *   @mutant NO_WANT                     a waiter queues up without saying that the lock is wanted
 *   @mutant WANT_OUTSIDE                ... says so before it has the queue's lock
 *   @mutant FORGET_REST                 unlock takes out one waiter and stores `taken` although more stand there
 *   @mutant LEAVE_UNASKED -DTIMED=1     a waiter whose time is over leaves without asking whether it is queued
 *   @mutant POP_LAST                    the last one gets the lock
 *   @mutant PARK_PLAIN                  the waiter stores `parked` without comparing
 *   @mutant GRANT_NOT_EXCHANGE          the granter loads the state, then stores `granted`
 *   @mutant GRANT_TOUCHES               the granter reads who waits after the exchange
 *   @mutant WAIT_ONCE                   any signal is taken for the grant
 *   @mutant NO_NUDGED -DTIMED=1 -DHOLD  a nudge only changes `parked`: one that comes before is lost
 *   @mutant NUDGED_LATE -DTIMED=1 -DHOLD a nudge says so after it has looked for `parked`
 *   @mutant NO_DISARM -DTIMED=1         the waiter goes without asking the timer to forget it
 *   @mutant KEEP_TIMED -DKEEP -DTIMED=1 the owner keeps a lock whose first waiter may give up
 *   @mutant TAKE_BACK_PLAIN -DKEEP      a kept lock is taken back without comparing
 *   @mutant KEEP_AND_GRANT -DKEEP       the owner keeps the lock and lets the next one in as well
 *   @mutant STAYS_POLLING               a waiter that may poll is granted by a plain store, and not signaled
 *
 * Three actors take the lock once each. The first TIMED of them try for some time and, where that was too short, lock
 * without limits. HOLD: the last one has the lock, and keeps it until all those have given up. Each takes its name off
 * a list under the lock; who finds the list empty destroys the lock as soon as its own unlock returns. One signal
 * comes from nowhere. Signals that are late meet an actor's second wait.
 *
 * The protocol, as the code has it (word: open, taken, wanted; state of a waiter: polling, parked, granted):
 *
 *   lock:          CAS(word, open -> taken); failed: looks some more times while word != wanted, then
 *                  queue's lock: take_or_want: CAS(word, open -> taken): has it; or CAS(word, taken -> wanted), push(self)
 *                  released; self.wait(); it has the lock when it is granted
 *   unlock:        loop: CAS(word, taken -> open): done
 *                    queue's lock: next = pop(); queue empty: word = taken;  released
 *                    next: next.grant(), done.   None: it has left since, so once more
 *                  Between the failed CAS and the queue's lock the only waiter may leave. `open` must not be stored
 *                  under that lock: whoever takes the lock then may destroy it, before the queue's lock is released.
 *                  KEEP: where the first waiter has no limit, the worker keeps the lock instead: kept = 1. Who runs there
 *                  next may take it back, CAS(kept, 1 -> 0), and is the owner; or the worker's next decision, or a
 *                  thief, passes it on: CAS(kept, 1 -> 0), queue's lock, next = pop(), released, next.grant()
 *   time is over:  queue's lock: still queued: remove(self); queue empty: word = taken; released; gives up
 *                  not queued: the grant is on its way: self.wait()
 *
 *   wait():        while state != granted [polls]:
 *                    CAS(state, polling -> parked); failed: granted
 *                    while state == parked and !nudged: suspend until a signal comes [or none: spurious]
 *                    CAS(state, parked -> polling)
 *   wait(limits):  the same; arms the timer; after each turn nudged = 0, then looks at the limits; disarms it
 *   grant():       who = self.who; if state.exchange(granted) == parked: signal(who)     [self may be gone]
 *                  A waiter without limits whose worker has other work is parked from the start, and stays so: its state
 *                  is set without an exchange.
 *   nudge():       nudged = 1; if CAS(state, parked -> polling): signal(who)    [under the timer's lock]
 *
 * Proved: never two owners; everybody gets the lock, in the order of the queue, and nobody passes by a queue; nobody
 * touches a waiter that has left, or the lock after who got it from him may have destroyed it; a wait with a limit
 * ends though the lock never gets free.
 */
#define N 3
#ifndef TIMED
#define TIMED 0
#endif

#define OPEN    0
#define TAKEN   1
#define WANTED  2

#define POLLING 0
#define PARKED  1
#define GRANTED 2

#define NOBODY  N

#ifdef HOLD
byte word = TAKEN;
byte inside = 1;
#else
byte word = OPEN;
byte inside = 0;
#endif
bit  lock_alive = 1;
bit  queueing = 0;                /* the queue's short lock */
chan queue = [N] of { byte };
chan order = [N] of { byte };     /* who queued when, for the proof */
bit  queued[N];

byte state[N];                    /* the waiter on each actor's stack */
bit  nudged[N];
bit  alive[N];
bit  signaled[N];                 /* the actor's runnable bit or token */
byte spurious = 1;

bit  over[N];                     /* the time is over */
bit  armed[N];
bit  timer_lock = 0;

bit  stays[N];                    /* parked from the start, until it is granted */
bit  kept = 0;

byte refs = N;
byte gave_up = 0;

inline lock_queue()   { atomic { !queueing -> assert(lock_alive); queueing = 1 } }
inline unlock_queue() { atomic { assert(lock_alive); queueing = 0 } }

/* CAS(word, open -> taken); nobody stands in the queue of a lock that is open */
inline take() {
    atomic {
        assert(lock_alive);
        if :: word == OPEN -> assert(len(queue) == 0); word = TAKEN; ok = 1 :: else -> ok = 0 fi
    }
}

/* under the queue's lock */
inline take_or_want() {
    atomic {
        assert(lock_alive);
        if
        :: word == OPEN -> assert(len(queue) == 0); word = TAKEN; ok = 1
        :: else -> ok = 0;
#if !defined(MUTANT_NO_WANT) && !defined(MUTANT_WANT_OUTSIDE)
            word = WANTED
#endif
        fi
    }
}

inline suspend() {
    if
    :: atomic { signaled[me] -> signaled[me] = 0 }
    :: atomic { spurious > 0 -> spurious-- }
    fi
}

/* ok: granted */
inline suspend_while_parked() {
#ifdef MUTANT_PARK_PLAIN
    ok = (state[me] == GRANTED);
    if :: ok :: else -> state[me] = PARKED fi;
#else
    atomic {
        if
        :: state[me] == POLLING -> state[me] = PARKED; ok = 0
        :: state[me] != POLLING -> ok = (state[me] == GRANTED)
        fi
    };
#endif
    if
    :: ok
    :: else ->
#ifdef MUTANT_WAIT_ONCE
        if :: state[me] == PARKED && !nudged[me] -> suspend() :: else fi;
        ok = !nudged[me]
#else
        do
        :: state[me] != PARKED -> break
        :: state[me] == PARKED -> if :: nudged[me] -> break :: !nudged[me] -> suspend() fi
        od;
        atomic { if :: state[me] == PARKED -> state[me] = POLLING :: else fi; ok = (state[me] == GRANTED) }
#endif
    fi
}

/* polling is a look at the state: that is what suspend_while_parked begins with */
inline wait() {
    do
    :: suspend_while_parked(); if :: ok -> break :: else fi
    od
}

inline disarm() {
#ifdef MUTANT_NO_DISARM
    skip
#else
    atomic { !timer_lock -> armed[me] = 0 }
#endif
}

/* ok: granted, else the time is over */
inline wait_within() {
    if
    :: state[me] == GRANTED -> ok = 1
    :: state[me] != GRANTED && over[me] -> ok = 0
    :: else ->
        atomic { !timer_lock -> armed[me] = 1 };
        do
        :: suspend_while_parked();
            if :: ok -> break :: else fi;
            nudged[me] = 0;
            if :: over[me] -> break :: else fi
        od;
        disarm()
    fi
}

inline signal(who) { signaled[who] = 1 }

inline grant(w) {
#ifdef MUTANT_GRANT_NOT_EXCHANGE
    prev = state[w];
    atomic { assert(alive[w]); state[w] = GRANTED };
#else
    if
    :: stays[w] ->
        atomic { assert(alive[w] && state[w] == PARKED); state[w] = GRANTED };
        prev = PARKED
    :: !stays[w] ->
#ifdef MUTANT_STAYS_POLLING
        atomic { assert(alive[w]); prev = POLLING; state[w] = GRANTED }
#else
        atomic { assert(alive[w]); prev = state[w]; state[w] = GRANTED }
#endif
    fi;
#endif
#ifdef MUTANT_GRANT_TOUCHES
    assert(alive[w]);
#endif
    if :: prev == PARKED -> signal(w) :: else fi;
    prev = 0
}

inline push() {
    atomic {
        assert(queueing && !queued[me]);
        queue!me; order!me; queued[me] = 1
    }
}

inline new_waiter(limited) {
    atomic {
        state[me] = POLLING; nudged[me] = 0; alive[me] = 1;
        if
        :: true
        :: !(limited) -> state[me] = PARKED; stays[me] = 1
        fi
    }
}
inline end_waiter() { d_step { alive[me] = 0; state[me] = POLLING; nudged[me] = 0; stays[me] = 0 } }

/* who is granted was first */
inline in_turn() { atomic { order?prev; assert(prev == me); prev = 0 } }

/* lock, and try_lock_for within the time: ok */
inline acquire(limited) {
    take();
#ifdef KEEP
    if
    :: !ok -> /* it may run where the lock is kept */
#ifdef MUTANT_TAKE_BACK_PLAIN
        ok = kept; if :: ok -> kept = 0 :: else fi
#else
        atomic { ok = kept; kept = 0 }
#endif
    :: else
    fi;
#endif
    if
    :: ok
    :: else ->
        /* looks for a while: one more look stands for all */
        if :: word != WANTED -> take() :: true fi;
        if
        :: ok
        :: else ->
            new_waiter(limited);
#ifdef MUTANT_WANT_OUTSIDE
            atomic { assert(lock_alive); if :: word == TAKEN -> word = WANTED :: else fi };
#endif
            lock_queue();
            take_or_want();
            if
            :: ok -> unlock_queue()
            :: else ->
                push();
                unlock_queue();
                if
                :: limited ->
                    wait_within();
                    if
                    :: ok -> in_turn()
                    :: else ->
                        lock_queue();
#ifdef MUTANT_LEAVE_UNASKED
                        atomic { if :: queued[me] -> queue??eval(me); order??eval(me); queued[me] = 0 :: else fi };
                        leaves = 1;
#else
                        atomic {
                            leaves = queued[me];
                            if :: leaves -> queue??eval(me); order??eval(me); queued[me] = 0 :: else fi
                        };
#endif
                        if
                        :: leaves ->
                            if :: len(queue) == 0 -> atomic { assert(lock_alive); word = TAKEN } :: else fi;
                            unlock_queue()
                        :: else -> unlock_queue(); wait(); in_turn()
                        fi;
                        ok = !leaves; leaves = 0
                    fi
                :: else -> wait(); in_turn()
                fi
            fi;
            end_waiter()
        fi
    fi
}

inline unlock() {
    do
    :: true ->
#ifdef MUTANT_UNLOCK_PLAIN
        ok = (word == TAKEN);
        if :: ok -> word = OPEN; break :: else fi;
#else
        atomic { assert(lock_alive); if :: word == TAKEN -> word = OPEN; ok = 1 :: else -> ok = 0 fi };
        if :: ok -> break :: else fi;
#endif
        lock_queue();
#ifdef KEEP
        atomic { /* the owner's look at the first one, and the worker's word */
            ok = 0;
            if
            :: len(queue) > 0 && !kept ->
                queue?<next>;
#ifdef MUTANT_KEEP_TIMED
                ok = 1;
#else
                ok = stays[next];
#endif
                next = 0
            :: else
            fi
        };
        if
        :: ok -> unlock_queue(); kept = 1;
#ifdef MUTANT_KEEP_AND_GRANT
            lock_queue()
#else
            break
#endif
        :: true
        fi;
#endif
        atomic {
            assert(word != OPEN);
            if
#ifdef MUTANT_POP_LAST
            :: len(queue) == 2 -> queue?prev; queue?next; queue!prev; prev = 0; queued[next] = 0
            :: len(queue) == 1 -> queue?next; queued[next] = 0
#else
            :: len(queue) > 0 -> queue?next; queued[next] = 0
#endif
            :: len(queue) == 0 -> next = NOBODY
            fi
        };
#ifdef MUTANT_TRUST_WANTED
        assert(next != NOBODY);
#endif
#ifdef MUTANT_FORGET_REST
        atomic { assert(lock_alive); word = TAKEN };
#else
        if :: len(queue) == 0 -> atomic { assert(lock_alive); word = TAKEN } :: else fi;
#endif
#ifdef MUTANT_OPEN_IN_PLACE
        if :: next == NOBODY -> atomic { assert(lock_alive); word = OPEN }; unlock_queue(); break :: else fi;
#endif
#ifdef MUTANT_GRANT_INSIDE
        if :: next != NOBODY -> grant(next) :: else fi;
        unlock_queue();
        if :: next != NOBODY -> break :: else fi
#else
        unlock_queue();
        if :: next != NOBODY -> grant(next); break :: else fi
#endif
    od;
    next = 0
}

proctype Actor(byte me) {
    bit ok, leaves, last;
    byte prev, next;

#ifdef HOLD
    if :: me == N - 1 -> gave_up == TIMED; goto owner :: else fi;
#endif
    if
    :: me < TIMED -> acquire(1); if :: ok -> goto enter :: else -> gave_up++ fi
    :: else
    fi;
    acquire(0);
enter:
    atomic { assert(inside == 0); inside++ };
#ifdef HOLD
owner:
#endif
    atomic { inside--; refs--; last = (refs == 0) };
    unlock();
    if :: last -> lock_alive = 0 :: else fi
}

#ifdef KEEP
/* decisions and thieves */
active proctype Decider() {
    byte prev, next;
end:
    do
    :: atomic { kept -> kept = 0 };
        lock_queue();
        atomic {
            if :: len(queue) > 0 -> queue?next; queued[next] = 0 :: else -> next = NOBODY fi
        };
        assert(next != NOBODY);
        if :: len(queue) == 0 -> atomic { assert(lock_alive); word = TAKEN } :: else fi;
        unlock_queue();
        grant(next);
        next = 0
    od
}
#endif

/* its part for one timed waiter */
proctype Timer(byte w) {
    bit was;
    over[w] = 1;
end:
    do
    :: atomic { armed[w] && !timer_lock -> timer_lock = 1; armed[w] = 0 };
#if !defined(MUTANT_NO_NUDGED) && !defined(MUTANT_NUDGED_LATE)
        atomic { assert(alive[w]); nudged[w] = 1 };
#endif
        atomic { assert(alive[w]); was = (state[w] == PARKED); if :: was -> state[w] = POLLING :: else fi };
#ifdef MUTANT_NUDGED_LATE
        atomic { assert(alive[w]); nudged[w] = 1 };
#endif
        if :: was -> atomic { assert(alive[w]); signal(w) } :: else fi;
        atomic { was = 0; timer_lock = 0 }
    od
}

init {
    atomic {
        byte w;
        for (w : 0 .. N - 1) {
            run Actor(w);
            if :: w < TIMED -> run Timer(w) :: else fi
        }
        w = 0
    }
}
