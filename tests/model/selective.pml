/* Workers that may not start some tasks (task_ops::may_start), beside the protocol of sleep.pml (fult/scheduler/idling.cpp).
 *
 *   @true   all
 *   @mutant SELECTIVE_POLLS   a selective worker that looks counts as polling
 *   @mutant SELECTIVE_SLEEPS  ... sleeps among those that signalers wake for any task
 *   @mutant PASSES_QUIETLY    a worker that has passed over a task sleeps shortly without waking another one
 *   @mutant NO_LOOK           a short sleep begins without a look at the worker's own tasks
 *   @mutant LOOK_FIRST        ... with a look before it is announced
 *
 * Three workers, all of them asleep, awake or about to sleep:
 *   SELECTIVE  may start no task; one of its own is suspended, and signaled once
 *   OTHER      ordinary, but may not start X, which is of another team
 *   ABLE       ordinary
 * A foreign thread makes X public, another one signals the task of SELECTIVE. Private words, and the order of plain stores, are
 * those of sleep.pml.
 *
 *   post(X):    x = 1; if sleepers != 0 and !polling: wake_one()
 *   signal:     own = 1; if short_sleepers has the worker, and this thread takes the bit: unpark
 *   ordinary:   polling = 1; sees x: claims it, and polling = 0 before; or passes it over;
 *               passed over: polling = 0; wake_one(); sleep_shortly()
 *               else: sleepers |= me; polling = 0; sees x: remove me and look again; sleep
 *   selective:  sees own: resumes it; else sleep_shortly()
 *   sleep_shortly():  prepared = futex word; short_sleepers |= me; if nothing of my own is ready: sleep until unparked, or for a time;
 *               if another thread has taken my bit: sleep until unparked
 *
 * Short sleeps last until the end here, or until they are unparked: neither X nor the signaled task needs their time limit, which is for
 * tasks that become startable otherwise.
 *
 * Proved: X runs, and the signaled task is resumed.
 */
#define SELECTIVE 0
#define OTHER 1
#define ABLE 2

bool x, x_runs, own, own_runs;
byte polling;
byte sleepers, short_sleepers; /* a bit for each worker */
byte futex[3];
#define OVER (x_runs && own_runs)
#define BIT(w) (1 << (w))

inline unpark(w) { futex[w]++ }

/* Of one sleeper, if there is one. */
inline wake_one() {
    atomic {
        if
        :: sleepers & BIT(SELECTIVE) -> sleepers = sleepers - BIT(SELECTIVE); unpark(SELECTIVE)
        :: sleepers & BIT(OTHER) -> sleepers = sleepers - BIT(OTHER); unpark(OTHER)
        :: sleepers & BIT(ABLE) -> sleepers = sleepers - BIT(ABLE); unpark(ABLE)
        :: else
        fi
    }
}

active proctype Poster() {
    bool some;
    x = true;
    some = sleepers != 0;
    if
    :: some && polling == 0 -> wake_one()
    :: else
    fi
}

active proctype Signaler() {
    bool taken;
    own = true;
    atomic {
        taken = (short_sleepers & BIT(SELECTIVE)) != 0;
        if
        :: taken -> short_sleepers = short_sleepers - BIT(SELECTIVE)
        :: else
        fi
    };
    if
    :: taken -> unpark(SELECTIVE)
    :: else
    fi
}

/* Takes the bit of `me` out, or waits for the unpark of the thread that has. */
inline leave_short_sleepers(me) {
    atomic {
        taken = (short_sleepers & BIT(me)) == 0;
        short_sleepers = short_sleepers & (255 - BIT(me))
    };
    if
    :: taken -> futex[me] != prepared
    :: else
    fi;
    taken = false
}

active proctype Selective() {
    byte prepared;
    bool taken, ready;
    do
    :: own && !own_runs -> own_runs = true
    :: OVER -> break
    :: !own || own_runs ->
#ifdef MUTANT_SELECTIVE_POLLS
       polling++;
       (x || true);
       polling--;
#endif
       prepared = futex[SELECTIVE];
#ifdef MUTANT_SELECTIVE_SLEEPS
       sleepers = sleepers | BIT(SELECTIVE);
       ((futex[SELECTIVE] != prepared) || OVER || (own && !own_runs));
       sleepers = sleepers & (255 - BIT(SELECTIVE));
#else
#ifdef MUTANT_LOOK_FIRST
       ready = own && !own_runs;
#endif
       short_sleepers = short_sleepers | BIT(SELECTIVE);
#ifndef MUTANT_LOOK_FIRST
       ready = own && !own_runs;
#endif
#ifdef MUTANT_NO_LOOK
       ready = false;
#endif
       if
       :: !ready -> (futex[SELECTIVE] != prepared || OVER)
       :: else
       fi;
       leave_short_sleepers(SELECTIVE)
#endif
    od
}

/* Of an ordinary worker that has looked at X, seen it or not, and could not start it. */
inline park(me) {
    prepared = futex[me];
    sleepers = sleepers | BIT(me);
    atomic { polling-- };
    seen = x && !x_runs;
    if
    :: !seen -> (futex[me] != prepared || OVER)
    :: else
    fi;
    atomic {
        taken = (sleepers & BIT(me)) == 0;
        sleepers = sleepers & (255 - BIT(me))
    };
    if
    :: taken -> (futex[me] != prepared)
    :: else
    fi;
    seen = false;
    taken = false
}

active proctype Able() {
    byte prepared;
    bool taken, seen;
    do
    :: OVER -> break
    :: else ->
       atomic { polling++ };
       if
       :: x && !x_runs ->
          atomic { polling-- };
          x_runs = true
       :: else -> park(ABLE)
       fi
    od
}

active proctype Other() {
    byte prepared;
    bool taken, seen;
    do
    :: OVER -> break
    :: else ->
       atomic { polling++ };
       seen = x && !x_runs;
       if
       :: seen ->
          atomic { polling-- };
#ifndef MUTANT_PASSES_QUIETLY
          wake_one();
#endif
          (OVER); /* for a time */
          seen = false
       :: else -> park(OTHER)
       fi
    od
}
