/* A task group: what its owner counts, its wait, its stop (fult/kernel/group.cpp).
 *
 *   @true   task
 *   @true   foreign -DFOREIGN
 *   @true   linked -DLINKED
 *   @true   stale -DSTALE
 *   @large  stale_thread -DSTALE -DFOREIGN
 *   @mutant TWO_STEPS -DSTALE           the last task subtracts first and then stores the zero
 *   @mutant FORGET_LATE -DSTALE         the waiter adds what the owner has spawned before the wait alone
 *   @mutant COUNT_ONCE -DSTALE          ... looks again only where it has suspended
 *   @mutant WAITER_LATE                 the waiter stores its id after it has set the waiting bit
 *   @mutant ADD_LATE -DLINKED           a task counts its child after it has spawned it
 *   @mutant FORGET_OWN                  the wait does not add what the owner spawned
 *   @mutant SIGNAL_FIRST                the last task signals before the word is zero
 *   @mutant TOUCH_AFTER                 ... reads the group after the word is zero
 *   @mutant WAIT_ONCE                   wait() without a loop
 *   @mutant FAIL_LATE                   a failed task counts itself before it leaves its exception
 *   @mutant SOURCE_BLIND                the maker of the token's source does not check whether a stop was requested
 *   @mutant STOP_LATE                   a request looks for the source first, then sets the flag
 *   @mutant RESET_BLIND -DLINKED         a new beginning does not look at the parent
 *
 * The owner spawns two tasks, then waits; the first spawns a third into the group. The owner may run the first two in
 * place. The first fails; the second takes a token and waits with it, so it ends only when its stop is requested. With
 * LINKED a parent requests a stop at any time too. The owner is also signaled at random.
 * STALE: the maker of the group has ended, another task waits, and the first task has the maker's slot: it takes itself
 * for the owner, and its spawn for one that is not counted before the wait.
 *
 * The protocol, as the code has it. word: of the completion (completion.pml), twice the number of open tasks, less those
 * that the owner spawned and has not added yet; lowest bit: a task waits.
 *
 *   spawn      by the owner: own++ (a plain variable); by others: word.fetch_add(2), then the task can run
 *   end_one w = waiter; if word is 3, the last one and the waiting bit: compare-and-swap it to 0; from here on the
 *              group is not touched; signal(w), or post. Else compare-and-swap it to word - 2
 *   wait       more = own - counted; counted = own; waiter = me
 *              open = word + 2 * more; compare-and-swap word to open + 1 if open > 0, else to open
 *              if open > 0: task: while word & 1: wait();   foreign: wait for the post
 *              again, if own != counted: a task that has ended, or runs, has spawned meanwhile as the owner
 *   fail       if failed.exchange(1) == 0: error = mine; request_stop; then end_one
 *   request    if stopped.exchange(1) == 1: leave; under the lock: s = source; s.request_stop()
 *   token      under the lock: if there is no source: make one; if stopped: request it
 *   reset      after a wait: stopped = 0, source = none; then, if the parent's stop is requested: request
 *
 * Proved: the wait ends, after all tasks have ended and never before; the group is not accessed after its owner has left
 * the wait and destroyed it; the first exception arrives; each taker of a token sees the stop; a group linked to a stopped
 * parent is stopped.
 */
#define OWNER 1
#define SCHEDULER 0

short word = 0;
bit  waiting_set = 0;      /* what waiter holds is valid */
byte own = 0, counted = 0;
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
bit  requested = 0;        /* at the source: what tokens show */
bit  parent = 0;           /* the parent's stop was requested */
bit  parent_done = 0;      /* its callback has run */

#define touch assert(alive)

inline request_stop() {
#ifdef MUTANT_STOP_LATE
    atomic { touch; lock == 0 -> lock = 1 };
    before = source;
    lock = 0;
    stopped = 1;
    if :: before -> requested = 1 :: else fi
#else
    atomic { touch; before = stopped; stopped = 1 };
    if
    :: before
    :: else ->
        atomic { touch; lock == 0 -> lock = 1 };
        before = source;
        lock = 0;
        if :: before -> requested = 1 :: else fi
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

inline end_one() {
#ifdef MUTANT_TWO_STEPS
    atomic { touch; word = word - 2; last = (word == 1) };
    if :: last -> atomic { touch; word = 0 } :: else fi;
#else
    atomic { touch; last = (word == 3);
#ifdef MUTANT_SIGNAL_FIRST
        if :: last :: else -> word = word - 2 fi };
    if :: last -> wake(); atomic { touch; word = word - 3 } :: else fi;
    last = 0;
#else
        if :: last -> assert(waiting_set); word = 0 :: else -> word = word - 2 fi };
#endif
#endif
    if
    :: last ->
#ifdef MUTANT_TOUCH_AFTER
        atomic { touch; assert(waiting_set) };
#endif
        wake()
    :: else
    fi
}

/* What each task does; it may find the group stopped and do nothing. */
inline body(c, claimer) {
    atomic { touch; before = stopped };
    if
    :: before
    :: else ->
        if
        :: c == 0 ->
#ifdef MUTANT_ADD_LATE
            runnable[2] = 1;
            atomic { touch; word = word + 2 };
#else
#ifdef STALE
            atomic { touch; own++ };
#else
            atomic { touch; word = word + 2 };
#endif
            runnable[2] = 1;
#endif
#ifdef MUTANT_FAIL_LATE
            ended[0] = 1;
            if :: claimer == OWNER :: else -> done = 1; end_one() fi;
#endif
            atomic { touch; before = failed; failed = 1 };
            if :: !before -> atomic { touch; error = 1 } :: else fi;
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
    bit before, last, done;
    if
    :: atomic { runnable[c] && !claimed[c] -> claimed[c] = 1 };
        body(c, SCHEDULER);
        if :: !done -> end_one() :: else fi
    :: claimed[c]                          /* the owner runs it */
    :: c == 2 && !alive && !runnable[2]    /* never spawned */
    fi;
}

/* A task that suspends leaves the owner's stack to the schedulers, which is a run of theirs; here the owner takes only
 * the first one. */
inline run_own() {
#if defined(FOREIGN) || defined(STALE)
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
    short open; byte more; bit before, ok, last, done;
#if defined(FOREIGN) && !defined(STALE)
    /* not the owner: it counts as others do */
    atomic { word = word + 2; runnable[0] = 1 };
    atomic { word = word + 2; runnable[1] = 1 };
#else
    own++; runnable[0] = 1;
    own++; runnable[1] = 1;
#endif
    run_own();
#ifdef MUTANT_FORGET_OWN
    counted = own;
#endif
    do
    :: true ->
        atomic { more = own - counted; counted = own };
#ifndef MUTANT_WAITER_LATE
        waiting_set = 1;
#endif
        atomic { open = word + 2 * more; word = (open > 0 -> open + 1 : open) };
#ifdef MUTANT_WAITER_LATE
        waiting_set = 1;
#endif
        if
        :: open > 0 ->
#ifdef FOREIGN
            atomic { posted -> posted = 0 }
#else
#ifdef MUTANT_WAIT_ONCE
            atomic { signaled -> signaled = 0 }
#else
            do :: (word & 1) != 0 -> atomic { signaled -> signaled = 0 } :: (word & 1) == 0 -> break od
#endif
#endif
#ifdef MUTANT_FORGET_LATE
            ; break
#endif
        :: else ->
#ifdef MUTANT_COUNT_ONCE
            break
#else
            skip
#endif
        fi;
        if :: own == counted -> break :: else fi
    od;
    waiting_set = 0;
    assert(ended[0] && ended[1]);
    assert(!runnable[2] || ended[2]);
    assert(!failed || error);
    /* a new beginning */
    atomic { lock == 0 -> lock = 1 };
    source = 0; requested = 0; stopped = 0;
    lock = 0;
#ifdef LINKED
#ifndef MUTANT_RESET_BLIND
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
    bit before;
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
