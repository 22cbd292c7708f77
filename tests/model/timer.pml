/* Deadlines: a timed wait that is ended by its grant, its time or a stop; and the worker that sleeps for deadlines.
 *
 *   @large  wait
 *   @true   wait_twice -DTWICE
 *   @large  watch -DWATCH
 *   @true   watch_equal -DWATCH -DSECOND=1
 *   @mutant NOT_FIRING           the entry leaves the queue as idle: the task that disarms it does not wait for the nudge
 *   @mutant IDLE_FIRST           the entry is idle again before its function is called
 *   @mutant NO_DISARM            the waiter goes without disarming
 *   @mutant STOP_RUNS            ... or without waiting for the stop's callback
 *   @mutant NUDGED_LATE          a nudge is recorded after the check for `suspended`
 *   @mutant LEAVE_UNASKED        a waiter whose limits are reached leaves without asking whether it is queued
 *   @mutant NO_RECHECK -DWATCH   the watcher does not look at `next` again once it has published its deadline
 *   @mutant NO_RING -DWATCH      the watcher is not notified of an earlier deadline
 *   @mutant RING_FIRST -DWATCH   ... is notified before `next` is lowered
 *   @mutant RAISE_BLIND -DWATCH  after firing, the queues are read first, and stores what it found
 *   @mutant RAISE_QUIET -DWATCH  ... lowers `next` to it, and notifies no thread
 *
 * The wait (sync/waiter.cpp, fult/scheduler/timers.cpp). An entry is idle, armed or firing:
 *
 *   wait(limits):  arm: shard's lock: insert, armed.   Register the stop's callback.   Then turns of
 *                    CAS(state, polling -> suspended); while state == suspended and !nudged: suspend
 *                    CAS(state, suspended -> polling); granted: done;  nudged = 0; limits reached: done
 *                  unregister the callback: waits while it runs
 *                  disarm: idle: done. shard's lock: armed: remove, idle. released; wait while firing
 *                  not granted: queue's lock: still queued: remove(self), gives up; else the grant is on its way
 *   fire:          shard's lock: due: remove, firing. released; nudge(); idle     [the entry may be gone]
 *   nudge():       nudged = 1; if CAS(state, suspended -> polling): signal
 *
 * Proved: there is no access to the waiter or its entry after they are gone; a grant is never lost; the wait ends. TWICE: a
 * second wait of the same task follows, which late signals meet.
 *
 * WATCH (fult/scheduler/timers.cpp): `next` is no later than any deadline; the watcher sleeps until then.
 *
 *   arm:           shard: insert; its earliest; lower(when)
 *   lower(when):   CAS(next -> when) where that is earlier; then if when < watched_until and
 *                  watched_until.exchange(none) != none: ring
 *   poll():        next <= now: fire what is due; next = never; lower(the earliest of all shards)
 *   sleep:         until = next; watched_until = until; next < until: stay awake; sleep until the bell or the time;
 *                  watched_until = none
 *
 * Two armers, a watcher and a worker that polls. Proved: when nothing moves, no deadline that has passed is left.
 */
#ifdef WATCH

#define NEVER 4
#define NO_ACTOR 0
#ifndef SECOND
#define SECOND 2
#endif

byte next = NEVER, watched = NO_ACTOR, now = 0;
bool bell = 0;
byte earliest[2] = NEVER;             /* of each shard, which has one entry at most */

inline ring(when, s) {
    if
    :: when < watched ->
        atomic { s = watched; watched = NO_ACTOR };
        if :: s != NO_ACTOR -> bell = 1 :: else fi
    :: else
    fi
}

inline lower(when, s) {
#ifdef MUTANT_RING_FIRST
    ring(when, s);
#endif
    do
    :: atomic { next > when -> next = when };
#if !defined(MUTANT_NO_RING) && !defined(MUTANT_RING_FIRST)
       ring(when, s);
#endif
       break
    :: next <= when -> break
    od
}

inline poll(i, first, s) {
    if
    :: next <= now ->
        i = 0;
        do
        :: i < 2 -> atomic { if :: earliest[i] <= now -> earliest[i] = NEVER :: else fi; i++ }
        :: else -> break
        od;
#ifndef MUTANT_RAISE_BLIND
        next = NEVER;
#endif
        first = NEVER;
        i = 0;
        do
        :: i < 2 -> atomic { if :: earliest[i] < first -> first = earliest[i] :: else fi; i++ }
        :: else -> break
        od;
#ifdef MUTANT_RAISE_BLIND
        next = first;
#endif
#ifdef MUTANT_RAISE_QUIET
        atomic { if :: first < next -> next = first :: else fi }
#else
        lower(first, s)
#endif
    :: else
    fi
}

proctype Armer(byte shard; byte when) {
    byte s;
    earliest[shard] = when;
    lower(when, s)
}

active proctype Watcher() {
    byte until, i, first, s;
    do
    :: poll(i, first, s);
       until = next;
       watched = until;
#ifndef MUTANT_NO_RECHECK
       if :: next < until -> watched = NO_ACTOR; goto again :: else fi;
#endif
end_asleep:
       if :: bell :: until != NEVER && now >= until fi;
       bell = 0;
       watched = NO_ACTOR;
again: skip
    od
}

active proctype Poller() {
    byte i, first, s;
    poll(i, first, s)
}

active proctype Clock() { do :: now < 3 -> now++ :: else -> break od }

active proctype Monitor() {
    do
    :: timeout -> assert(earliest[0] > now && earliest[1] > now); break
    od
}

init { atomic { run Armer(0, 1); run Armer(1, SECOND) } }

#else

#define POLLING 0
#define SUSPENDED 1
#define GRANTED 2
#define IDLE 0
#define ARMED 1
#define FIRING 2

byte state = POLLING, what = IDLE;
bool nudged, token, queued, alive, time_over, stop_requested, registered, running, granting, over;
bool shard_lock, queue_lock;

inline lock(l) { atomic { !l -> l = 1 } }

inline suspend_until_granted() {
    atomic { if :: state == POLLING -> state = SUSPENDED :: else fi };
    do
    :: state == SUSPENDED && !nudged -> if :: token -> token = 0 :: over -> break fi
    :: else -> break
    od;
    atomic { if :: state == SUSPENDED -> state = POLLING :: else fi }
}

inline nudge() {
#ifndef MUTANT_NUDGED_LATE
    assert(alive); nudged = 1;
#endif
    atomic {
        assert(alive);
        if :: state == SUSPENDED -> state = POLLING; signaled = 1 :: else fi
    };
#ifdef MUTANT_NUDGED_LATE
    assert(alive); nudged = 1;
#endif
    if :: signaled -> assert(alive); token = 1; signaled = 0 :: else fi
}

active proctype Owner() {
    alive = 1;
    lock(queue_lock); queued = 1; queue_lock = 0;
    lock(shard_lock); what = ARMED; shard_lock = 0;
    registered = 1;
turn:
    suspend_until_granted();
    if
    :: state == GRANTED -> goto left
    :: else
    fi;
    nudged = 0;
    if
    :: time_over || stop_requested -> goto left
    :: else
    fi;
    goto turn;
left:
#ifndef MUTANT_STOP_RUNS
    atomic { !running -> registered = 0 };
#else
    registered = 0;
#endif
#ifndef MUTANT_NO_DISARM
    if
    :: what == IDLE
    :: else ->
        lock(shard_lock);
        if :: what == ARMED -> what = IDLE :: else fi;
        shard_lock = 0;
        what == IDLE
    fi;
#endif
    if
    :: state != GRANTED ->
#ifndef MUTANT_LEAVE_UNASKED
        lock(queue_lock);
        if
        :: queued -> queued = 0; queue_lock = 0
        :: else -> queue_lock = 0;
            do
            :: state == GRANTED -> break
            :: else -> nudged = 0; suspend_until_granted()
            od
        fi
#else
        skip
#endif
    :: else
    fi;
    assert(!granting || state == GRANTED);
    alive = 0;
#ifdef TWICE
    do                                /* while (!condition) wait(): late signals do no harm */
    :: token -> token = 0
    :: over -> break
    od
#endif
}

active proctype Granter() {
    bool mine, suspended;
    if :: true :: true -> goto none fi;
    queued || !alive && what == IDLE && time_over;
    lock(queue_lock);
    if :: queued -> queued = 0; granting = 1; mine = 1 :: else fi;
    queue_lock = 0;
    if
    :: mine -> atomic { assert(alive); suspended = (state == SUSPENDED); state = GRANTED };
        if :: suspended -> token = 1 :: else fi
    :: else
    fi;
none: skip
}

active proctype Timer() {
    bool signaled, due;
    time_over = 1;
    do
    :: atomic { !shard_lock -> shard_lock = 1 };
       if :: what == ARMED ->
#ifdef MUTANT_NOT_FIRING
            what = IDLE;
#else
            what = FIRING;
#endif
            due = 1
       :: else
       fi;
       shard_lock = 0;
       if
       :: due ->
#ifdef MUTANT_IDLE_FIRST
            what = IDLE;
#endif
            nudge();
            assert(alive);
            what = IDLE;
            break
       :: else -> if :: what == ARMED :: over -> break fi
       fi
    od
}

active proctype Stopper() {
    bool signaled;
    if :: true :: true -> goto none fi;
    stop_requested = 1;
    atomic { if :: registered -> running = 1 :: else fi };
    if :: running -> nudge(); running = 0 :: else fi;
none: skip
}

active proctype Spurious() { token = 1 }

active proctype End() { timeout -> assert(!alive); over = 1 }

#endif
