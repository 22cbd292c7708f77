/* Sleeping and waking: no task waits while a worker that could run it sleeps.
 *
 *   @true   signals -DWORKERS=2 -DSIGNALS=2
 *   @large  busy_home -DWORKERS=3 -DSIGNALS=2 -DBUSY
 *   @true   both_homes -DWORKERS=2 -DSIGNALS=1 -DSIGNALS1=1
 *   @large  private -DWORKERS=3 -DSPAWNS=3
 *   @large  mixed -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=1 -DPINNED
 *   @large  watch -DWORKERS=2 -DSIGNALS=2 -DWATCH
 *   @large  poll_sleep -DWORKERS=2 -DSIGNALS=2 -DPOLL_SLEEP
 *   @true   poll_sleep_busy -DWORKERS=3 -DSIGNALS=1 -DBUSY -DPOLL_SLEEP
 *   @true   crowd -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=2 -DCROWD
 *   @large  crowd_private -DWORKERS=3 -DSPAWNS=2 -DCROWD
 *   @deep   crowd_busy -DWORKERS=3 -DSIGNALS=1 -DSPAWNS=1 -DBUSY -DCROWD
 *   @large  crowd_homes -DWORKERS=2 -DSIGNALS=1 -DSIGNALS1=1 -DCROWD
 *   @deep   crowd_three -DWORKERS=3 -DSIGNALS=2 -DCROWD
 *   @deep   watch_both -DWORKERS=2 -DSIGNALS=1 -DSIGNALS1=1 -DWATCH
 *   @deep   watch_three -DWORKERS=3 -DSIGNALS=2 -DWATCH
 *   @deep   three_workers -DWORKERS=3 -DSIGNALS=2
 *   @deep   two_homes -DWORKERS=2 -DSIGNALS=2 -DSIGNALS1=1
 *   @true   late -DWORKERS=2 -DSPAWNS=2 -DASLEEP
 *   @true   late_busy -DWORKERS=3 -DSPAWNS=2 -DASLEEP -DBUSY
 *   @true   becomes_crowd -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=1 -DCROWD -DBECOMES
 *   @large  becomes_both -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=2 -DCROWD -DBECOMES
 *   @deep   becomes_private -DWORKERS=3 -DSPAWNS=2 -DCROWD -DBECOMES
 *   @deep   becomes_busy -DWORKERS=3 -DSIGNALS=1 -DSPAWNS=1 -DBUSY -DCROWD -DBECOMES
 *   @true   becomes_late -DWORKERS=2 -DSPAWNS=2 -DASLEEP -DCROWD -DBECOMES
 *   @deep   last_asleep -DWORKERS=3 -DSIGNALS=3 -DASLEEP -DLONG
 *   @deep   pinned -DWORKERS=3 -DSIGNALS=1 -DPINNED
 *   @mutant NO_RECHECK -DWORKERS=2 -DSIGNALS=1            sleeps without a second look at the public words
 *   @mutant NO_PRIVATE_RECHECK -DWORKERS=2 -DSPAWNS=1     ... at the private words
 *   @mutant NO_MEMBARRIER -DWORKERS=2 -DSPAWNS=1          the owner's store and load are not ordered
 *   @mutant REQUEST_FIRST -DWORKERS=2 -DSPAWNS=2           sets work_requested before its bit in sleepers
 *   @mutant NO_REQUEST -DWORKERS=2 -DSPAWNS=1              does not set work_requested
 *   @mutant NO_REARM -DWORKERS=3 -DSPAWNS=2  the owner clears work_requested although others still sleep
 *   @mutant FUTEX_VALUE_LATE -DWORKERS=2 -DSIGNALS=1      reads the futex value after the second look
 *   @mutant SLEEPERS_FIRST -DWORKERS=2 -DSIGNALS=1        a signaler reads sleepers before its atomic OR
 *   @mutant POLLING_LATE -DWORKERS=2 -DSIGNALS=2          polling = 0 after the claim
 *   @mutant POLLING_ASLEEP -DWORKERS=2 -DSIGNALS=1        polling stays set during the sleep
 *   @mutant STALE_BIT -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=1 -DPINNED   awake with its bit still in sleepers
 *   @mutant NO_REREAD -DWORKERS=2 -DSIGNALS=2             no look at the public words after the claim
 *   @mutant REREAD_OWN -DWORKERS=3 -DSIGNALS=3 -DASLEEP -DLONG            ... at the own public words only
 *   @mutant WATCH_NO_REREAD -DWORKERS=2 -DSIGNALS=1 -DWATCH  a watcher goes on without a look at its words
 *   @mutant WATCH_NO_FENCE -DWORKERS=2 -DSIGNALS=1 -DWATCH   ... or looks before its polling = 0 is visible
 *   @mutant WATCH_NO_MEMBARRIER -DWORKERS=2 -DSIGNALS=1 -DWATCH  a worker that falls asleep does not order a watcher's stores
 *   @mutant POLL_SLEEP_LEFT -DWORKERS=2 -DSIGNALS=1 -DPOLL_SLEEP     a worker sleeps for good and is still counted as poll-sleeping
 *   @mutant POLL_SLEEP_LONG -DWORKERS=2 -DSIGNALS=1 -DPOLL_SLEEP     a poll sleep lasts until the worker is woken
 *   @mutant CROWD_SLEEPERS_FIRST -DWORKERS=2 -DSIGNALS=1 -DCROWD     a signaler reads sleepers before it sets the hint
 *   @mutant CROWD_NO_SECOND_LOOK -DWORKERS=2 -DSIGNALS=2 -DBUSY -DCROWD  a hint is cleared without a second look
 *   @mutant CROWD_ASK_FIRST -DWORKERS=2 -DSPAWNS=3 -DCROWD  work_requested is set before the bit in hiding is taken
 *   @mutant CROWD_HIDES_FIRST -DWORKERS=2 -DSPAWNS=3 -DCROWD  the owner sets its bit before it clears work_requested
 *   @mutant CROWD_ONCE -DWORKERS=2 -DSPAWNS=2 -DCROWD       where a task was hidden, the bit is not set again
 *   @mutant CROWD_NO_MEMBARRIER -DWORKERS=2 -DSPAWNS=1 -DCROWD  the owner's store and load are not ordered
 *   @mutant CROWD_ONE_LOOK -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=1 -DBUSY -DCROWD  a worker that finds a public task does not look where it has asked
 *   @mutant BECOMES_UNSHOWN -DWORKERS=2 -DSIGNALS=2 -DBUSY -DCROWD -DBECOMES  hints are set in a crowd alone: one that begins lacks them
 *   @mutant LATE_UNASKED -DWORKERS=2 -DSPAWNS=2 -DASLEEP  a worker that comes late begins as if no other slept
 *   @mutant NO_WAKE_HOME -DWORKERS=2 -DSIGNALS=0 -DPINNED the pinned bit is forwarded, its worker not woken
 *
 * Worker 0 starts with a task that spawns (BUSY: and runs forever), the others with nothing. Signals come from anywhere,
 * to tasks of worker 0 (SIGNALS) and of worker 1 (SIGNALS1). ASLEEP: the last worker sleeps when it begins, as it does where worker 0 is added to a running team.
 * POLL_SLEEP: signals are hand-offs, which wake no worker while one poll-sleeps; a worker may poll-sleep once, before it sleeps.
 * WATCH: once, a worker that looks goes on with its own task, whose condition holds now. LONG: every task runs forever. A task ends at once, or it runs "forever": then it ends only when nothing else in the
 * whole system can move, and at every such moment Monitor looks whether a task waits while a worker sleeps. Plain
 * stores (polling, private words) go through a store buffer of the worker. Revocation is one step here (revoke.pml).
 *
 * The protocol, as the code has it:
 *
 *   signal(t):   public.fetch_or(bit, seq_cst)
 *                if sleepers.load(seq_cst) != 0 and !home.polling.load(seq_cst): wake_one()
 *   wake_one():  takes one bit out of sleepers (fetch_and; if another thread got it, the next); its worker's
 *                futex word += 1; futex wake
 *   worker, nothing private left:
 *     look:      polling = 1; polls all public words, its own pinned words
 *     found:     polling = 0 (before the claim: on x86 a plain store, the claim's atomic operation flushes it; on
 *                aarch64 seq_cst); claim; then, if any worker's public words still show a bit: wake_one()
 *                [all workers' words, not only its own: its own wake-up may have been meant for another task]
 *                a pinned task of another worker: home.pinned.fetch_or(bit); if the home's bit is in sleepers: take
 *                it, wake the home
 *                polling is set only while the private words are empty: taking a private task is no atomic operation.
 *     watcher (a task that polls its condition): polling = 0 (a plain store); if sleepers.load() == 0: goes on;
 *                else polling.exchange(0); if its own public words show a bit: wake_one(); goes on
 *     sleep:     polling = 0; v = futex word; sleepers.fetch_or(me)
 *                request_flags.fetch_or(work_requested) on every other worker; membarrier
 *                second look: all public words, own pinned words, all private words
 *                  found: sleepers.fetch_and(~me) (its bit may be gone: fine); private: revoke; goes on polling
 *                  else:  futex_wait(futex word == v); sleepers.fetch_and(~me), however it returned: a waker that
 *                         took the bit of an earlier sleep may change the word late, and leave this sleep's bit set
 *     poll sleep: the same, with poll_sleeping += 1 first and without a check of handed-off tasks; the wait ends by itself.
 *                If its bit in sleepers is gone then: waits for the waker that took it. poll_sleeping -= 1; searches
 *                [hand-off: push (an atomic operation); if sleepers.load() != 0 and poll_sleeping.load() == 0: as signal]
 *   owner, after each change of a private word, a = request_flags, a & work_requested:
 *                request_flags.fetch_and(~work_requested)
 *                if sleepers.load(seq_cst) != 0: if there is a private task: publish the oldest, wake_one()
 *                if sleepers.load(seq_cst) != 0: request_flags.fetch_or(work_requested)       [still armed for the others]
 *
 *   In a crowd (CROWD) a worker finds the other homes by hints, `shown` and `hiding`:
 *     signal:    after the OR: if !(shown & home): shown.fetch_or(home); then reads sleepers
 *     look:      another home only if it is shown. It is empty: shown.fetch_and(~home); looks again; not empty: shown.fetch_or(home)
 *     sleep:     instead of request_flags everywhere: hiding.exchange(0); request_flags.fetch_or(work_requested) on these;
 *                membarrier; all private words of these: not empty: hiding.fetch_or(worker); revoke
 *     owner:     after request_flags.fetch_and(~work_requested): hiding.fetch_or(me)
 *   A team may become a crowd at any moment (BECOMES). Before, hints are set in the same way, but no worker clears or reads them.
 *
 * Proved: whenever nothing moves, no public and no private task exists while any worker sleeps, no pinned task while
 * its worker sleeps; and in the end everything has been run.
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif
#ifndef SPAWNS
#define SPAWNS 0
#endif
#ifndef SIGNALS1
#define SIGNALS1 0                    /* signals to a task of worker 1 */
#endif
#if SIGNALS1
#define HOMES 2                       /* workers whose tasks are signaled; polling matters only to signalers */
#else
#define HOMES 1
#endif
#define BIT(i)   (1 << (i))
#define PIN      128                  /* the pinned task's bit in public[0] */
byte public[HOMES];                   /* their public words */
bit  pinned = 0;                      /* worker 0's pinned words */
byte private = 0;                     /* worker 0's private words in memory: number of tasks */
byte private_buf = 0;                 /* ... as worker 0 sees them */
bit  buffered = 0;                    /* they differ: the store is under way */
bit  polling[HOMES];
bit  polling_buf[HOMES];              /* polling as the worker itself sees it */
byte sleepers = 0;
bit  work_requested = 0;                      /* worker 0's */
bit  woken[WORKERS];                  /* the futex word has changed since its worker has read it */
byte poll_sleeping = 0;                      /* of the sleepers, how many look by themselves soon */
#ifdef CROWD
bit  shown[HOMES];                    /* hints: the home may have public tasks */
bit  hiding = 1;                      /* worker 0 may have private ones that it was not asked for */
#ifdef BECOMES
bit  exists = 0;                      /* it is a crowd by now */
#define asked_all (!exists || (!many && hiding))
#else
#define exists    true
#define many      true
#endif
#define seen(h)  (!exists || w == (h) || shown[h])
#else
#define seen(h)  true
#define asked_all true
#endif
byte in_task = 0;                     /* workers whose task runs forever */
#define own_private (buffered -> private_buf : private)
#define drain_private() if :: buffered -> private = private_buf; private_buf = 0; buffered = 0 :: else fi
#define drain(w)        d_step { if :: w < HOMES -> polling[w] = polling_buf[w] :: else fi; \
                                 if :: w == 0 -> drain_private() :: else fi }
#define drain_all()     d_step { polling[0] = polling_buf[0]; polling[HOMES - 1] = polling_buf[HOMES - 1]; \
                                 drain_private() }
#define set_polling(x)  if :: w < HOMES -> polling_buf[w] = x :: else fi

inline wake_one() {
    atomic {
        if
        :: (sleepers & 1) -> sleepers = sleepers & ~1; s = 0
        :: (sleepers & 2) -> sleepers = sleepers & ~2; s = 1
        :: (sleepers & 4) -> sleepers = sleepers & ~4; s = 2
        :: sleepers == 0 -> s = 9
        fi
    };
    if :: s != 9 -> woken[s] = 1 :: else fi;
    s = 0
}

inline show_home(home) {
#ifdef CROWD
    if
#ifdef MUTANT_BECOMES_UNSHOWN
    :: !exists
#endif
    :: !shown[home] -> shown[home] = 1
    :: else
    fi
#else
    skip
#endif
}

inline signal(home, bits) {
#ifdef MUTANT_SLEEPERS_FIRST
    s = sleepers; public[home] = public[home] | (bits);
#else
#ifdef MUTANT_CROWD_SLEEPERS_FIRST
    public[home] = public[home] | (bits); s = sleepers; show_home(home);
#else
    public[home] = public[home] | (bits); show_home(home); s = sleepers;
#endif
#endif
    if
#ifdef POLL_SLEEP
    :: s != 0 && poll_sleeping != 0 -> skip
    :: s != 0 && poll_sleeping == 0 -> if :: polling[home] :: else -> wake_one() fi
#else
    :: s != 0 -> if :: polling[home] :: else -> wake_one() fi
#endif
    :: s == 0
    fi;
    s = 0
}

proctype Signaler(byte home; byte bits) { byte s; signal(home, bits) }

/* owner, work_requested seen */
inline poll_requests() {
    if
    :: work_requested ->
#ifdef MUTANT_CROWD_HIDES_FIRST
        if :: !hiding -> hiding = 1 :: else fi;
#endif
        atomic { drain(0); work_requested = 0 };
#if defined(CROWD) && !defined(MUTANT_CROWD_HIDES_FIRST)
        if :: !hiding -> hiding = 1 :: else fi;
#endif
        if
        :: sleepers != 0 ->
            if
            :: atomic { own_private > 0 -> private_buf = own_private - 1; buffered = 1 }; /* publish */
                atomic { drain(0); public[0] = public[0] + 8 };
                show_home(0);
                wake_one()
            :: own_private == 0
            fi
        :: else
        fi;
#ifndef MUTANT_NO_REARM
        if :: sleepers != 0 -> atomic { drain(0); work_requested = 1 } :: else fi
#endif
    :: else
    fi
}

inline run_task() {
    if
#ifndef LONG
    :: skip
#endif
    :: in_task = in_task | BIT(w); !(in_task & BIT(w))
    fi
}

#ifdef CROWD
/* a word of several: the rest stays */
inline revoke_word() {
    atomic { drain(0); if :: private != 0 -> public[0] = public[0] + 8; private-- :: else fi };
    show_home(0)
}
#endif

/* after the claim: another thread may have relied on this worker's polling */
inline reread() {
#ifdef MUTANT_NO_REREAD
    skip
#else
    s = 0;
#ifdef MUTANT_REREAD_OWN
    if :: w < HOMES && public[w] != 0 -> s = 1 :: else fi;
#else
    if :: seen(0) && public[0] != 0 -> s = 1 :: else fi;
#if HOMES == 2
    if :: seen(1) && public[1] != 0 -> s = 1 :: else fi;
#endif
#endif
#ifdef CROWD
    if
    :: !s && w != 0 && (!exists || hiding) && private != 0 -> revoke_word(); s = 1
    :: else
    fi;
#endif
    if :: s -> wake_one() :: else fi
#endif
}

/* one task out of public[h] into t; tasks that were spawned count by 8 */
inline take(h) {
    if
    :: (public[h] & 1) -> t = 1
    :: (public[h] & 2) -> t = 2
    :: (public[h] & 4) -> t = 4
    :: (public[h] & 120) -> t = 8
    :: (public[h] & PIN) -> t = PIN
    :: public[h] == 0 -> t = 0
    fi;
    public[h] = public[h] - t
}

inline claim(h) {
#ifdef MUTANT_POLLING_LATE
    atomic { drain(w); take(h) };
    set_polling(0);
#else
    set_polling(0);
    atomic { drain(w); take(h) };
#endif
    if
    :: t == PIN && w != 0 -> /* forward */
        t = 0; pinned = 1;
#ifndef MUTANT_NO_WAKE_HOME
        atomic { if :: sleepers & 1 -> sleepers = sleepers & ~1; s = 1 :: else -> s = 0 fi };
        if :: s -> woken[0] = 1 :: else fi;
        s = 0;
#endif
        goto look
    :: t != 0 && !(t == PIN && w != 0) -> t = 0; reread(); run_task(); goto search
    :: t == 0 -> goto look
    fi
}

#ifdef CROWD
inline forget(h) {
    shown[h] = 0;
#ifndef MUTANT_CROWD_NO_SECOND_LOOK
    if :: public[h] != 0 -> shown[h] = 1 :: else fi
#endif
}
#endif

proctype Worker(byte w) {
    byte s, t; byte spawns = SPAWNS;
#ifdef CROWD
    bit asked = 0;
#endif
#ifdef BECOMES
    bit many = 0;                           /* it was a crowd when the worker fell asleep */
#endif
    bit poll_sleep = 0;
#ifdef POLL_SLEEP
    bit poll_sleeps = 1;                    /* left to do */
#endif
#ifdef WATCH
    bit watches = 1;                  /* left to do */
    bit searches = 0;                 /* it has slept, or was about to, since its last task: it runs none that could watch */
#endif

#ifdef ASLEEP
    if :: w == WORKERS - 1 -> goto end_asleep :: else fi;
#endif
    if
    :: w == 0 -> /* the first task: spawns, joins inline, perhaps runs on */
        do
        :: atomic { own_private > 0 && spawns > 0 -> private_buf = own_private - 1; buffered = 1 }; poll_requests()
        :: spawns > 0 -> spawns--; atomic { private_buf = own_private + 1; buffered = 1 }; poll_requests()
#ifdef BUSY
        :: spawns == 0 -> in_task = in_task | 1; !(in_task & 1); break
#else
        :: spawns == 0 ->
#ifndef LONG
            run_task();
#endif
            break
#endif
        od
    :: else
    fi;

search:
#ifdef WATCH
    searches = 0;
#endif
    if
    :: w == 0 && own_private > 0 -> /* pick */
        if
        :: atomic { own_private > 0 -> private_buf = own_private - 1; buffered = 1 }; poll_requests(); run_task()
        :: own_private == 0 -> skip   /* revoked meanwhile */
        fi;
        goto search
    :: !(w == 0 && own_private > 0) -> skip
    fi;

look:
    atomic { set_polling(1) };
    if
#ifdef WATCH
    :: w < HOMES && watches && !searches -> /* its condition holds */
        watches = 0;
        set_polling(0);
        if
        :: sleepers == 0 -> skip
        :: else ->
#ifndef MUTANT_WATCH_NO_REREAD
#ifndef MUTANT_WATCH_NO_FENCE
            drain(w);
#endif
            s = (public[w] != 0);
            if :: s && sleepers != 0 -> wake_one() :: else -> s = 0 fi
#else
            skip
#endif
        fi;
        run_task(); goto search
#endif
    :: seen(0) && public[0] != 0 -> claim(0)
#if HOMES == 2
    :: seen(1) && public[1] != 0 -> claim(1)
#endif
#ifdef CROWD
    :: exists && shown[0] && public[0] == 0 -> forget(0); goto look
#if HOMES == 2
    :: exists && shown[1] && public[1] == 0 -> forget(1); goto look
#endif
#endif
    :: w == 0 && pinned ->
        set_polling(0);
        atomic { drain(w); pinned = 0 };
        reread(); run_task(); goto search
    :: !(seen(0) && public[0] != 0) && !(seen(HOMES - 1) && public[HOMES - 1] != 0) && !(w == 0 && pinned) ->
        skip                          /* nothing for long enough: sleep */
    fi;

#ifdef POLL_SLEEP
    if
    :: poll_sleeps -> poll_sleeps = 0; poll_sleep = 1; atomic { drain(w); poll_sleeping++ }
    :: true
    fi;
#endif
#ifndef MUTANT_FUTEX_VALUE_LATE
    woken[w] = 0;                     /* v = futex word */
#endif
#ifndef MUTANT_POLLING_ASLEEP
    set_polling(0);
#endif
#ifdef MUTANT_REQUEST_FIRST
    if :: w != 0 -> atomic { drain(w); work_requested = 1 } :: else fi;
    atomic { drain(w); sleepers = sleepers | BIT(w) };
#else
    atomic { drain(w); sleepers = sleepers | BIT(w) };
#ifdef CROWD
    asked = 0;
#ifdef MUTANT_CROWD_ASK_FIRST
    if :: SPAWNS > 0 && hiding -> work_requested = 1; hiding = 0; asked = 1 :: else fi;
#else
#ifdef BECOMES
    many = exists;
#endif
    if
    :: atomic { many && SPAWNS > 0 && hiding -> hiding = 0; asked = 1 }; work_requested = 1
    :: !many && w != 0 && SPAWNS > 0 -> work_requested = 1
    :: else
    fi;
#endif
#else
#ifndef MUTANT_NO_REQUEST
    if :: w != 0 && SPAWNS > 0 -> work_requested = 1 :: else fi;
#endif
#endif
#endif
#if !defined(MUTANT_NO_MEMBARRIER) && !defined(MUTANT_CROWD_NO_MEMBARRIER) && !defined(MUTANT_WATCH_NO_MEMBARRIER)
    drain_all();
#endif
#ifdef CROWD
    if
#ifdef MUTANT_CROWD_ONE_LOOK
    :: seen(0) && public[0] != 0 -> goto found
    :: !(seen(0) && public[0] != 0) && asked && w != 0 && private != 0 ->
#else
    :: asked && w != 0 && private != 0 ->
#endif
#ifndef MUTANT_CROWD_ONCE
        hiding = 1;
#endif
        revoke_word();
        goto found
    :: else
    fi;
#endif
    if
#ifndef MUTANT_NO_RECHECK
    :: poll_sleep
    :: !poll_sleep && seen(0) && public[0] != 0 -> goto found
    :: !poll_sleep && !(seen(0) && public[0] != 0) -> skip
#else
    :: true
#endif
    fi;
    if
#if HOMES == 2 && !defined(MUTANT_NO_RECHECK)
    :: seen(1) && public[1] != 0 -> goto found
    :: !(seen(1) && public[1] != 0) -> skip
#else
    :: true
#endif
    fi;
    if
    :: w == 0 && pinned -> goto found
    :: else
    fi;
    if
#if !defined(MUTANT_NO_PRIVATE_RECHECK) && (!defined(CROWD) || defined(BECOMES))
    :: asked_all && w != 0 && private != 0 -> goto found
#endif
    :: else
    fi;
#ifdef MUTANT_FUTEX_VALUE_LATE
    woken[w] = 0;
#endif
#ifdef POLL_SLEEP
    if
    :: poll_sleep ->
#ifdef MUTANT_POLL_SLEEP_LONG
        woken[w];
#endif
        s = 0;
        atomic { s = ((sleepers & BIT(w)) -> 0 : 1); sleepers = sleepers & ~BIT(w) };
        if :: s -> woken[w] :: else fi;
        s = 0;
#ifndef MUTANT_POLL_SLEEP_LEFT
        atomic { drain(w); poll_sleeping-- };
#endif
        poll_sleep = 0;
        goto look
    :: else
    fi;
#endif
end_asleep:
    woken[w];                         /* futex_wait */
#ifndef MUTANT_STALE_BIT
    sleepers = sleepers & ~BIT(w);
#endif
#ifdef WATCH
    searches = 1;
#endif
    goto look;

found:
#ifdef POLL_SLEEP
    if :: poll_sleep -> poll_sleep = 0; poll_sleeping-- :: else fi;
#endif
#ifdef WATCH
    searches = 1;
#endif
    atomic { sleepers = sleepers & ~BIT(w) };
#if !defined(CROWD) || defined(BECOMES)
    if
    :: asked_all && w != 0 && private != 0 -> /* revoke */
        atomic { drain(0); public[0] = public[0] + 8 * private; private = 0 };
        show_home(0)
    :: else
    fi;
#endif
    goto look
}

active proctype Flush() {
end:
    do
#ifdef BECOMES
    :: d_step { !exists -> exists = 1 }    /* one more worker is about to be added */
#endif
    :: d_step { buffered -> private = private_buf; private_buf = 0; buffered = 0 }
    :: d_step { polling[0] != polling_buf[0] -> polling[0] = polling_buf[0] }
#if HOMES == 2
    :: d_step { polling[1] != polling_buf[1] -> polling[1] = polling_buf[1] }
#endif
    od
}

active proctype Monitor() {
    do
    :: timeout ->
        assert(sleepers == 0 || (public[0] == 0 && public[HOMES - 1] == 0 && private == 0));
        assert(!(sleepers & 1) || !pinned);
        if
        :: (in_task & 1) -> in_task = in_task & ~1
        :: (in_task & 2) -> in_task = in_task & ~2
        :: (in_task & 4) -> in_task = in_task & ~4
        :: in_task == 0 ->
            assert(sleepers == BIT(WORKERS) - 1);
            assert(public[0] == 0 && public[HOMES - 1] == 0 && private == 0 && !pinned);
            break
        fi
    od
}

init {
    atomic {
#ifdef ASLEEP
        sleepers = BIT(WORKERS - 1);
#ifndef MUTANT_LATE_UNASKED
        work_requested = 1;
#endif
#endif
        byte w;
        for (w : 0 .. WORKERS - 1) { run Worker(w) }
        w = 0;
        if :: SIGNALS > 0 -> run Signaler(0, 1) :: else fi;
        if :: SIGNALS > 1 -> run Signaler(0, 2) :: else fi;
        if :: SIGNALS > 2 -> run Signaler(0, 4) :: else fi;
        if :: SIGNALS1 -> run Signaler(HOMES - 1, 1) :: else fi;
#ifdef PINNED
        run Signaler(0, PIN)
#endif
    }
}
