/* A task group: its counter, its wait, its stop (fult/group.cpp).
 *
 *   @true   task
 *   @true   foreign -DFOREIGN
 *   @true   linked -DLINKED
 *   @mutant NO_HANDSHAKE                the waiter leaves when the count is zero, not when the word is
 *   @mutant WAITER_LATE                 the waiter says who it is after it has said that it waits
 *   @mutant ADD_LATE -DLINKED           a task counts its child after it has spawned it
 *   @mutant FORGET_OWN                  the wait does not add what the owner spawned
 *   @mutant SIGNAL_FIRST                who ends last signals before it stores the zero
 *   @mutant TOUCH_AFTER                 ... reads the group after it has stored the zero
 *   @mutant WAIT_ONCE                   wait() without a loop
 *   @mutant FAIL_LATE                   a failed task counts itself before it leaves its exception
 *   @mutant SOURCE_BLIND                who makes the token's source does not look whether a stop was requested
 *   @mutant STOP_LATE                   a request looks for the source first, then sets the flag
 *   @mutant ANEW_BLIND -DLINKED         a new beginning does not look at the parent
 *
 * The owner spawns two tasks, then waits; the first spawns a third into the group. The owner may run the first two in
 * place. The first fails; the second takes a token and waits with it, so it ends only when it is told to stop. With
 * LINKED a parent requests a stop at any time too. Somebody signals the owner at random.
 *
 * The protocol, as the code has it. word: twice the number of open tasks, less those that the owner spawned and has not
 * added yet; lowest bit: somebody waits.
 *
 *   spawn      by the owner: own++ (a plain variable); by others: word.fetch_add(2), then the task can run
 *   count_down word.fetch_sub(2); if that leaves 1, the waiting bit alone:
 *                  who = waiter; word.store(0, release); from here on the group is not touched; signal(who), or post
 *   wait       waiter = me; old = word.fetch_add(2 * own + 1); if old + 2 * own == 0: word = 0, leave
 *              task: while word != 0: wait();   foreign: wait for the post
 *   fail       if failed.exchange(1) == 0: error = mine; request_stop; then count_down
 *   request    if stopped.exchange(1) == 1: leave; under the lock: told = source; told.request_stop()
 *   token      under the lock: if there is no source: make one; if stopped: request it
 *   anew       after a wait: stopped = 0, source = none; then, if the parent's stop is requested: request
 *
 * Proved: the wait ends, after all tasks have ended and never before; nobody touches the group after its owner has left
 * the wait and destroyed it; the first exception arrives; whoever takes a token is told; what is linked to a stopped
 * parent is stopped.
 */
#define OWNER 1
#define SCHEDULER 0

short word = 0;
bit  waiting_set = 0;      /* what waiter holds is valid */
byte own = 0;
bit  alive = 1;            /* the group */
bit  signaled = 0;         /* the owner's runnable bit or token */
bit  posted = 0;
bit  runnable[3];
bit  claimed[3];
bit  ended[3];
bit  failed = 0, error = 0;
bit  stopped = 0;          /* the group's flag */
bit  lock = 0;
bit  source = 0;           /* made */
bit  requested = 0;        /* at the source: what tokens tell */
bit  parent = 0;           /* the parent's stop was requested */
bit  parent_done = 0;      /* its callback has run */

#define touch assert(alive)

inline request_stop() {
#ifdef MUTANT_STOP_LATE
    atomic { touch; lock == 0 -> lock = 1 };
    told = source;
    lock = 0;
    stopped = 1;
    if :: told -> requested = 1 :: else fi
#else
    atomic { touch; told = stopped; stopped = 1 };
    if
    :: told
    :: else ->
        atomic { touch; lock == 0 -> lock = 1 };
        told = source;
        lock = 0;
        if :: told -> requested = 1 :: else fi
    fi
#endif
}

inline take_token() {
    atomic { touch; lock == 0 -> lock = 1 };
    if
    :: !source ->
        source = 1;
#ifndef MUTANT_SOURCE_BLIND
        if :: stopped -> requested = 1 :: else fi
#endif
    :: else
    fi;
    lock = 0
}

inline wake() {
#ifdef FOREIGN
    posted = 1
#else
    signaled = 1
#endif
}

inline count_down() {
    atomic { touch; word = word - 2; old = word };
    if
    :: old == 1 ->
#ifdef MUTANT_SIGNAL_FIRST
        atomic { touch; assert(waiting_set) };
        wake();
        atomic { touch; word = 0 }
#else
        atomic { touch; assert(waiting_set) };   /* who = waiter */
        atomic { touch; word = 0 };
#ifdef MUTANT_TOUCH_AFTER
        atomic { touch; assert(waiting_set) };
#endif
        wake()
#endif
    :: else
    fi
}

/* What each task does; it may find the group stopped and do nothing. */
inline body(c, claimer) {
    atomic { touch; told = stopped };
    if
    :: told
    :: else ->
        if
        :: c == 0 ->
#ifdef MUTANT_ADD_LATE
            runnable[2] = 1;
            atomic { touch; word = word + 2 };
#else
            atomic { touch; word = word + 2 };
            runnable[2] = 1;
#endif
#ifdef MUTANT_FAIL_LATE
            ended[0] = 1;
            if :: claimer == OWNER :: else -> counted = 1; count_down() fi;
#endif
            atomic { touch; told = failed; failed = 1 };
            if :: !told -> atomic { touch; error = 1 } :: else fi;
            request_stop()
        :: c == 1 ->
            take_token();
            requested           /* a wait that ends only so */
        :: else
        fi
    fi;
    ended[c] = 1
}

/* Run by a scheduler. The third exists only where the first has spawned it. */
proctype Task(byte c) {
    short old; bit told, counted;
    if
    :: atomic { runnable[c] && !claimed[c] -> claimed[c] = 1 };
        body(c, SCHEDULER);
        if :: !counted -> count_down() :: else fi
    :: claimed[c]                          /* the owner runs it */
    :: c == 2 && !alive && !runnable[2]    /* never spawned */
    fi;
}

/* A task that suspends leaves the owner's stack to the schedulers, which is a run of theirs; here the owner takes only
 * the first one. */
inline run_own() {
#ifdef FOREIGN
    skip
#else
    atomic { if :: !claimed[0] -> claimed[0] = 1; ok = 1 :: true -> ok = 0 fi };
    if
    :: ok -> body(0, OWNER); own--
    :: else
    fi
#endif
}

active proctype Owner() {
    short old; bit told, ok, counted;
#ifdef FOREIGN
    /* not the owner: it counts as others do */
    atomic { word = word + 2; runnable[0] = 1 };
    atomic { word = word + 2; runnable[1] = 1 };
#else
    own++; runnable[0] = 1;
    own++; runnable[1] = 1;
#endif
    run_own();
#ifdef MUTANT_FORGET_OWN
    own = 0;
#endif
#ifdef MUTANT_WAITER_LATE
    atomic { word = word + 2 * own + 1; old = word - 1 };
    waiting_set = 1;
#else
    waiting_set = 1;
    atomic { word = word + 2 * own + 1; old = word - 1 };
#endif
    own = 0;
    if
    :: old == 0 -> word = 0
    :: else ->
#ifdef FOREIGN
        posted
#else
#ifdef MUTANT_WAIT_ONCE
        atomic { signaled -> signaled = 0 }
#else
#ifdef MUTANT_NO_HANDSHAKE
        do :: word > 1 -> atomic { signaled -> signaled = 0 } :: word <= 1 -> break od
#else
        do :: word != 0 -> atomic { signaled -> signaled = 0 } :: word == 0 -> break od
#endif
#endif
#endif
    fi;
    waiting_set = 0;
    assert(ended[0] && ended[1]);
    assert(!runnable[2] || ended[2]);
    assert(!failed || error);
    /* a new beginning */
    atomic { lock == 0 -> lock = 1 };
    source = 0; requested = 0; stopped = 0;
    lock = 0;
#ifdef LINKED
#ifndef MUTANT_ANEW_BLIND
    if :: parent -> request_stop() :: else fi;
#endif
    /* the destructor of the parent's callback waits until it has run, or sees that it never will */
    if
    :: parent -> parent_done; assert(stopped)
    :: atomic { !parent -> alive = 0 }
    fi;
#endif
    alive = 0
}

#ifdef LINKED
active proctype Parent() {
    bit told;
    if
    :: atomic { alive -> parent = 1 };
        request_stop();
        parent_done = 1
    :: true
    fi
}
#endif

active proctype Spurious() { signaled = 1; signaled = 1 }

init { atomic { run Task(0); run Task(1); run Task(2) } }
