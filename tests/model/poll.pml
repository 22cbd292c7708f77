/* Polling for messages, timers and descriptors: while a foreign thread waits or a worker sleeps, some thread polls.
 *
 *   @large  one_each -DWORKERS=1 -DTHREADS=1 -DEVENTS=2
 *   @true   two_threads -DWORKERS=1 -DTHREADS=2 -DEVENTS=2
 *   @true   two_workers -DWORKERS=2 -DTHREADS=1 -DEVENTS=2
 *   @deep   both -DWORKERS=2 -DTHREADS=2 -DEVENTS=2
 *   @mutant NO_HANDOFF_FOUND -DWORKERS=1 -DTHREADS=1 -DEVENTS=1   a worker that found a task does not hand polling off
 *   @mutant HANDOFF_TO_THREADS -DWORKERS=2 -DTHREADS=1 -DEVENTS=2  ... or does so only while the list is not empty
 *   @mutant NO_HANDOFF_LEAVE -DWORKERS=1 -DTHREADS=2 -DEVENTS=2   a thread whose wait is over does not hand polling off
 *   @mutant LIST_LATE -DWORKERS=1 -DTHREADS=1 -DEVENTS=1           a thread enters the list after it looked for a poller
 *   @mutant SEARCHING_LATE -DWORKERS=1 -DTHREADS=1 -DEVENTS=1      a worker looks at the list while it still counts as searching
 *   @mutant WATCHED_LATE -DWORKERS=1 -DTHREADS=2 -DEVENTS=2        a watcher looks for a successor while it still counts as one
 *   @mutant UNPARK_NO_BELL -DWORKERS=1 -DTHREADS=1 -DEVENTS=1       a grant takes a thread at the bell for one that polls
 *   @mutant NO_WAKE_WORKER -DWORKERS=1 -DTHREADS=1 -DEVENTS=2      without a waiting thread, no worker is woken
 *
 * An event is for one foreign thread, or for a task (to no thread's wait). It stays pending until some thread polls. A worker searches
 * (and polls), or runs a task, which may run forever, or sleeps; one sleeping thread watches: it wakes up when an event comes.
 * Workers that sleep are woken by a post; a watcher's post rings the bell. When nothing moves: no event is pending while a worker sleeps
 * or a thread waits.
 *
 * The protocol, as the code has it (fult/scheduler/thread_waits.cpp, fult/scheduler/idling.cpp, fult/scheduler/services.cpp):
 *
 *   thread, not granted:  state = parked; enters the list
 *                         if searching == 0 and !watched.exchange(1): until its state is no longer parked:
 *                            poll; else state parked -> at_bell, sleeps until an event or the bell, at_bell -> parked
 *                            watched = 0
 *                         else sleeps until its state is no longer parked
 *                         leaves the list; hand_off()
 *   hand_off():          if watched or searching != 0: return
 *                         one thread of the list with state parked -> polling: wake it; if there is none: wake_one worker
 *   worker:               searching += 1; polls; finds a task: searching -= 1; hand_off(); runs it
 *                         finds none: searching -= 1; sleepers |= me; looks for work; if !watched.exchange(1): polls, sleeps until an event
 *                            or a post; watched = 0; sleepers &= ~me
 *                         else sleeps until a post
 *   grant(thread):        old = state.exchange(granted); parked: futex wake; at_bell: rings
 */
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifndef EVENTS
#define EVENTS 1
#endif

#define TASK THREADS /* the addressee of an event for a task */

mtype = { polling, parked, at_bell, granted };

mtype state[THREADS] = polling;
bool listed[THREADS];
byte list_count;
byte events[THREADS + 1]; /* pending, by addressee */
byte pending;
bool bell;
bool watched;
byte searching;
bool sleeper[WORKERS];
byte posts[WORKERS];       /* modulo 4 */
bool asleep[WORKERS];     /* blocked in the kernel, for the monitor */
bool waiting[THREADS];
byte tasks;               /* that a worker may find */

inline grant(i) {
    atomic {
        if
        :: state[i] == at_bell ->
#ifndef MUTANT_UNPARK_NO_BELL
            bell = true
#else
            skip
#endif
        :: else
        fi;
        state[i] = granted
    }
}

/* Takes what is there; `busy`: something was. */
inline poll(busy) {
    busy = false;
    atomic {
        i = 0;
        do
        :: i <= THREADS ->
            if
            :: events[i] > 0 ->
                events[i]--; pending--; busy = true;
                if
                :: i < THREADS -> grant(i)
                :: else -> tasks++
                fi
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0
    }
}

inline wake_one() {
    atomic {
        i = 0;
        do
        :: i < WORKERS && sleeper[i] -> sleeper[i] = false; posts[i] = (posts[i] + 1) % 4; bell = true; break
        :: i < WORKERS && !sleeper[i] -> i++
        :: else -> break
        od;
        i = 0
    }
}

inline hand_off() {
    if
    :: watched -> skip
    :: else ->
        if
        :: searching != 0 -> skip
        :: else ->
            atomic { /* under the list's lock */
                i = 0;
                do
                :: i < THREADS && listed[i] && state[i] == parked -> state[i] = polling; break
                :: i < THREADS && !(listed[i] && state[i] == parked) -> i++
                :: else -> break
                od;
                found = (i < THREADS);
                i = 0
            }
            if
            :: found -> found = false
            :: else ->
#ifndef MUTANT_NO_WAKE_WORKER
                wake_one()
#else
                skip
#endif
            fi
        fi
    fi
}

inline enter_list() { atomic { listed[me] = true; list_count++ } }

proctype Thread(byte me) {
    byte i;
    bool busy, found, watches;
    do
    :: state[me] == granted -> break
    :: else ->
        atomic {
            if
            :: state[me] == polling -> state[me] = parked
            :: else
            fi
        }
        if
        :: state[me] == granted -> break
        :: else
        fi;
#ifndef MUTANT_LIST_LATE
        enter_list();
#endif
        if
        :: searching == 0 ->
            atomic {
                if
                :: !watched -> watched = true; watches = true
                :: else
                fi
            }
        :: else
        fi;
#ifdef MUTANT_LIST_LATE
        enter_list();
#endif
        if
        :: watches ->
            do
            :: state[me] != parked -> break
            :: else ->
                poll(busy);
                if
                :: busy -> skip
                :: else ->
                    atomic {
                        if
                        :: state[me] == parked -> state[me] = at_bell
                        :: else
                        fi
                    }
                    if
                    :: state[me] == at_bell ->
                        waiting[me] = true;
                        atomic { (bell || pending > 0) -> waiting[me] = false }
                        bell = false;
                        atomic {
                            if
                            :: state[me] == at_bell -> state[me] = parked
                            :: else
                            fi
                        }
                    :: else
                    fi
                fi
            od;
#ifndef MUTANT_WATCHED_LATE
            watched = false
#endif
        :: else ->
            waiting[me] = true;
            atomic { state[me] != parked -> waiting[me] = false }
        fi;
        atomic { listed[me] = false; list_count-- }
#ifndef MUTANT_NO_HANDOFF_LEAVE
        hand_off();
#endif
        atomic {
#ifdef MUTANT_WATCHED_LATE
            if
            :: watches -> watched = false
            :: else
            fi;
#endif
            watches = false;
            busy = false
        }
    od
}

proctype Worker(byte me) {
    byte i, prepared;
    bool busy, found, watches;
search:
    searching++;
    do
    :: atomic { tasks > 0 -> tasks-- }
#ifdef MUTANT_SEARCHING_LATE
        hand_off();
#endif
        searching--;
#ifdef MUTANT_HANDOFF_TO_THREADS
        if
        :: list_count > 0 -> hand_off()
        :: else
        fi;
#elif !defined(MUTANT_NO_HANDOFF_FOUND) && !defined(MUTANT_SEARCHING_LATE)
        hand_off();
#endif
        if /* the task runs forever, or ends */
        :: goto computes
        :: goto search
        fi
    :: poll(busy)
    :: break
    od;
    atomic { searching--; busy = false; prepared = posts[me] }
    sleeper[me] = true;
    if
    :: tasks > 0 -> skip
    :: else ->
        atomic {
            if
            :: !watched -> watched = true; watches = true
            :: else
            fi
        }
        if
        :: watches ->
            do
            :: posts[me] != prepared -> break
            :: else ->
                poll(busy);
                if
                :: busy -> break
                :: else ->
                    asleep[me] = true;
end_watch:          atomic { (bell || pending > 0 || posts[me] != prepared) -> asleep[me] = false }
                    bell = false
                fi
            od;
            watched = false
        :: else ->
            asleep[me] = true;
end_sleep:  atomic { posts[me] != prepared -> asleep[me] = false }
        fi
    fi;
    atomic { sleeper[me] = false; watches = false; busy = false; prepared = 0 }
    goto search;
computes:
    skip
}

/* Events come at any time; those for threads once each, the others for tasks. */
proctype Network() {
    byte left = EVENTS, i = 0;
    do
    :: i < THREADS -> atomic { events[i]++; pending++; i++; left = (left > 0 -> left - 1 : 0) }
    :: i >= THREADS && left > 0 -> atomic { events[TASK]++; pending++; left-- }
    :: i >= THREADS && left == 0 -> break
    od
}

proctype Monitor() {
    byte i;
    bool someone;
    do
    :: timeout ->
        d_step {
            i = 0;
            someone = false;
            do
            :: i < WORKERS -> someone = someone || asleep[i]; i++
            :: else -> break
            od;
            i = 0;
            do
            :: i < THREADS -> someone = someone || waiting[i]; i++
            :: else -> break
            od
        }
        assert(pending == 0 || !someone);
        break
    od
}

init {
    byte n;
    atomic {
        tasks = 1;
        n = 0;
        do
        :: n < WORKERS -> run Worker(n); n++
        :: else -> break
        od;
        n = 0;
        do
        :: n < THREADS -> run Thread(n); n++
        :: else -> break
        od;
        run Network();
        run Monitor()
    }
}
