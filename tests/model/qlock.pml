/* The lock with a queue, and the waiter that all of fult::sync waits with.
 *
 *   @true   plain
 *   @large  timed -DTIMED=1
 *   @large  two_timed -DTIMED=2
 *   @large  never_free -DTIMED=2 -DHOLD
 *   @large  defer -DDEFER
 *   @large  defer_timed -DDEFER -DTIMED=1
 *   @mutant TRUST_CONTENDED -DTIMED=1      unlock has seen `contended` and relies on a first waiter under the queue's lock
 *   @mutant UNLOCK_IN_PLACE -DTIMED=1      ... finds none there, and stores `unlocked` while it still holds that lock
 *   @mutant GRANT_INSIDE                   the next owner is granted before the queue's lock is released
 *   @mutant UNLOCK_PLAIN                   unlock stores `unlocked` without comparing
 *   @mutant NO_WANT                        a waiter queues up without marking the lock contended
 *   @mutant WANT_OUTSIDE                   ... marks it before it has the queue's lock
 *   @mutant FORGET_REST                    unlock takes out one waiter and stores `locked` although more are queued
 *   @mutant LEAVE_UNASKED -DTIMED=1        a waiter whose time is over leaves without asking whether it is queued
 *   @mutant POP_LAST                       the last one gets the lock
 *   @mutant SUSPEND_PLAIN                  the waiter stores `suspended` without comparing
 *   @mutant GRANT_NOT_EXCHANGE             the granter loads the state, then stores `granted`
 *   @mutant GRANT_TOUCHES                  the granter reads the waiter after the exchange
 *   @mutant WAIT_ONCE                      any signal is taken for the grant
 *   @mutant NO_NUDGED -DTIMED=1 -DHOLD     a nudge only changes `suspended`: one that comes before is lost
 *   @mutant NUDGED_LATE -DTIMED=1 -DHOLD   a nudge is recorded after the check for `suspended`
 *   @mutant NO_DISARM -DTIMED=1            the waiter goes without asking the timer to forget it
 *   @mutant DEFER_TIMED -DDEFER -DTIMED=1  the owner defers the release although the first waiter may give up
 *   @mutant REACQUIRE_PLAIN -DDEFER        a deferred lock is reacquired without comparing
 *   @mutant DEFER_AND_GRANT -DDEFER        the owner defers the release and grants the lock as well
 *   @mutant STAYS_POLLING                  a waiter that may poll is granted by a plain store, and not signaled
 *
 * Three actors take the lock once each. The first TIMED of them try for some time and, where that was too short, lock
 * without limits. HOLD: the last one has the lock, and keeps it until all those have given up. Each takes its name off
 * a list under the lock; the one that finds the list empty destroys the lock as soon as its own unlock returns. One signal
 * comes from nowhere. Signals that are late meet an actor's second wait.
 *
 * The protocol, as the code has it (word: unlocked, locked, contended; state of a waiter: polling, suspended, granted):
 *
 *   lock:          CAS(word, unlocked -> locked); failed: looks some more times while word != contended, then
 *                  queue's lock: acquire_or_mark_contended: CAS(word, unlocked -> locked): has it; or CAS(word, locked -> contended), push(self)
 *                  released; self.wait(); it has the lock when it is granted
 *   unlock:        loop: CAS(word, locked -> unlocked): done
 *                    queue's lock: next = pop(); queue empty: word = locked;  released
 *                    next: next.grant(), done.   None: it has left since, so once more
 *                  Between the failed CAS and the queue's lock the only waiter may leave. `unlocked` must not be stored
 *                  under that lock: the next owner may destroy it, before the queue's lock is released.
 *                  DEFER: if the first waiter has no limit, the worker defers the release: deferred = 1. A task that runs there
 *                  next may reacquire it, CAS(deferred, 1 -> 0), and is the owner; or the worker's next decision, or a
 *                  thief, transfers it: CAS(deferred, 1 -> 0), queue's lock, next = pop(), released, next.grant()
 *   time is over:  queue's lock: still queued: remove(self); queue empty: word = locked; released; gives up
 *                  not queued: the grant is on its way: self.wait()
 *
 *   wait():        while state != granted [polls]:
 *                    CAS(state, polling -> suspended); failed: granted
 *                    while state == suspended and !nudged: suspend until a signal comes [or none: spurious]
 *                    CAS(state, suspended -> polling)
 *   wait(limits):  the same; arms the timer; after each turn nudged = 0, then looks at the limits; disarms it
 *   grant():       w = self.waiter; if state.exchange(granted) == suspended: signal(w)     [self may be gone]
 *                  A waiter without limits whose worker has other work is suspended from the start, and stays so: its state
 *                  is set without an exchange.
 *   nudge():       nudged = 1; if CAS(state, suspended -> polling): signal(waiter)    [under the timer's lock]
 *
 * Proved: never two owners; all get the lock, in the order of the queue, and none bypasses a queue; none
 * accesses a waiter that has left, or the lock after its next owner may have destroyed it; a wait with a limit
 * ends though the lock never gets free.
 */
#define N 3
#ifndef TIMED
#define TIMED 0
#endif

#define UNLOCKED    0
#define LOCKED   1
#define CONTENDED  2

#define POLLING 0
#define SUSPENDED  1
#define GRANTED 2

#define NO_ACTOR  N

#ifdef HOLD
byte word = LOCKED;
byte inside = 1;
#else
byte word = UNLOCKED;
byte inside = 0;
#endif
bit  lock_alive = 1;
bit  queueing = 0;                /* the queue's short lock */
chan queue = [N] of { byte };
chan order = [N] of { byte };     /* the order of enqueueing, for the proof */
bit  queued[N];

byte state[N];                    /* the waiter on each actor's stack */
bit  nudged[N];
bit  alive[N];
bit  signaled[N];                 /* the actor's runnable bit or token */
byte spurious = 1;

bit  over[N];                     /* the time is over */
bit  armed[N];
bit  timer_lock = 0;

bit  stays[N];                    /* suspended from the start, until it is granted */
bit  deferred = 0;

byte refs = N;
byte gave_up = 0;

inline lock_queue()   { atomic { !queueing -> assert(lock_alive); queueing = 1 } }
inline unlock_queue() { atomic { assert(lock_alive); queueing = 0 } }

/* CAS(word, unlocked -> locked); the queue of an open lock is empty */
inline take() {
    atomic {
        assert(lock_alive);
        if :: word == UNLOCKED -> assert(len(queue) == 0); word = LOCKED; ok = 1 :: else -> ok = 0 fi
    }
}

/* under the queue's lock */
inline acquire_or_mark_contended() {
    atomic {
        assert(lock_alive);
        if
        :: word == UNLOCKED -> assert(len(queue) == 0); word = LOCKED; ok = 1
        :: else -> ok = 0;
#if !defined(MUTANT_NO_WANT) && !defined(MUTANT_WANT_OUTSIDE)
            word = CONTENDED
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
inline suspend_until_granted() {
#ifdef MUTANT_SUSPEND_PLAIN
    ok = (state[me] == GRANTED);
    if :: ok :: else -> state[me] = SUSPENDED fi;
#else
    atomic {
        if
        :: state[me] == POLLING -> state[me] = SUSPENDED; ok = 0
        :: state[me] != POLLING -> ok = (state[me] == GRANTED)
        fi
    };
#endif
    if
    :: ok
    :: else ->
#ifdef MUTANT_WAIT_ONCE
        if :: state[me] == SUSPENDED && !nudged[me] -> suspend() :: else fi;
        ok = !nudged[me]
#else
        do
        :: state[me] != SUSPENDED -> break
        :: state[me] == SUSPENDED -> if :: nudged[me] -> break :: !nudged[me] -> suspend() fi
        od;
        atomic { if :: state[me] == SUSPENDED -> state[me] = POLLING :: else fi; ok = (state[me] == GRANTED) }
#endif
    fi
}

/* polling is a look at the state: that is what suspend_until_granted begins with */
inline wait() {
    do
    :: suspend_until_granted(); if :: ok -> break :: else fi
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
        :: suspend_until_granted();
            if :: ok -> break :: else fi;
            nudged[me] = 0;
            if :: over[me] -> break :: else fi
        od;
        disarm()
    fi
}

inline signal(task) { signaled[task] = 1 }

inline grant(w) {
#ifdef MUTANT_GRANT_NOT_EXCHANGE
    prev = state[w];
    atomic { assert(alive[w]); state[w] = GRANTED };
#else
    if
    :: stays[w] ->
        atomic { assert(alive[w] && state[w] == SUSPENDED); state[w] = GRANTED };
        prev = SUSPENDED
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
    if :: prev == SUSPENDED -> signal(w) :: else fi;
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
        :: !(limited) -> state[me] = SUSPENDED; stays[me] = 1
        fi
    }
}
inline end_waiter() { d_step { alive[me] = 0; state[me] = POLLING; nudged[me] = 0; stays[me] = 0 } }

/* the granted one was first */
inline in_turn() { atomic { order?prev; assert(prev == me); prev = 0 } }

/* lock, and try_lock_for within the time: ok */
inline acquire(limited) {
    take();
#ifdef DEFER
    if
    :: !ok -> /* it may run where the lock is deferred */
#ifdef MUTANT_REACQUIRE_PLAIN
        ok = deferred; if :: ok -> deferred = 0 :: else fi
#else
        atomic { ok = deferred; deferred = 0 }
#endif
    :: else
    fi;
#endif
    if
    :: ok
    :: else ->
        /* spins: one more check represents all */
        if :: word != CONTENDED -> take() :: true fi;
        if
        :: ok
        :: else ->
            new_waiter(limited);
#ifdef MUTANT_WANT_OUTSIDE
            atomic { assert(lock_alive); if :: word == LOCKED -> word = CONTENDED :: else fi };
#endif
            lock_queue();
            acquire_or_mark_contended();
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
                            if :: len(queue) == 0 -> atomic { assert(lock_alive); word = LOCKED } :: else fi;
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
        ok = (word == LOCKED);
        if :: ok -> word = UNLOCKED; break :: else fi;
#else
        atomic { assert(lock_alive); if :: word == LOCKED -> word = UNLOCKED; ok = 1 :: else -> ok = 0 fi };
        if :: ok -> break :: else fi;
#endif
        lock_queue();
#ifdef DEFER
        atomic { /* the owner's look at the first one, and the worker's word */
            ok = 0;
            if
            :: len(queue) > 0 && !deferred ->
                queue?<next>;
#ifdef MUTANT_DEFER_TIMED
                ok = 1;
#else
                ok = stays[next];
#endif
                next = 0
            :: else
            fi
        };
        if
        :: ok -> unlock_queue(); deferred = 1;
#ifdef MUTANT_DEFER_AND_GRANT
            lock_queue()
#else
            break
#endif
        :: true
        fi;
#endif
        atomic {
            assert(word != UNLOCKED);
            if
#ifdef MUTANT_POP_LAST
            :: len(queue) == 2 -> queue?prev; queue?next; queue!prev; prev = 0; queued[next] = 0
            :: len(queue) == 1 -> queue?next; queued[next] = 0
#else
            :: len(queue) > 0 -> queue?next; queued[next] = 0
#endif
            :: len(queue) == 0 -> next = NO_ACTOR
            fi
        };
#ifdef MUTANT_TRUST_CONTENDED
        assert(next != NO_ACTOR);
#endif
#ifdef MUTANT_FORGET_REST
        atomic { assert(lock_alive); word = LOCKED };
#else
        if :: len(queue) == 0 -> atomic { assert(lock_alive); word = LOCKED } :: else fi;
#endif
#ifdef MUTANT_UNLOCK_IN_PLACE
        if :: next == NO_ACTOR -> atomic { assert(lock_alive); word = UNLOCKED }; unlock_queue(); break :: else fi;
#endif
#ifdef MUTANT_GRANT_INSIDE
        if :: next != NO_ACTOR -> grant(next) :: else fi;
        unlock_queue();
        if :: next != NO_ACTOR -> break :: else fi
#else
        unlock_queue();
        if :: next != NO_ACTOR -> grant(next); break :: else fi
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

#ifdef DEFER
/* decisions and thieves */
active proctype Decider() {
    byte prev, next;
end:
    do
    :: atomic { deferred -> deferred = 0 };
        lock_queue();
        atomic {
            if :: len(queue) > 0 -> queue?next; queued[next] = 0 :: else -> next = NO_ACTOR fi
        };
        assert(next != NO_ACTOR);
        if :: len(queue) == 0 -> atomic { assert(lock_alive); word = LOCKED } :: else fi;
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
        atomic { assert(alive[w]); was = (state[w] == SUSPENDED); if :: was -> state[w] = POLLING :: else fi };
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
