/* Sleeping and waking: no task waits while a worker that could run it sleeps.
 *
 *   @true   signals -DWORKERS=2 -DSIGNALS=2
 *   @true   busy_home -DWORKERS=3 -DSIGNALS=2 -DBUSY
 *   @true   both_homes -DWORKERS=2 -DSIGNALS=1 -DSIGNALS1=1
 *   @true   private -DWORKERS=3 -DSPAWNS=3
 *   @true   mixed -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=1 -DPINNED
 *   @true   watch -DWORKERS=2 -DSIGNALS=2 -DWATCH
 *   @true   doze -DWORKERS=2 -DSIGNALS=2 -DDOZE
 *   @true   doze_busy -DWORKERS=3 -DSIGNALS=1 -DBUSY -DDOZE
 *   @deep   watch_both -DWORKERS=2 -DSIGNALS=1 -DSIGNALS1=1 -DWATCH
 *   @deep   watch_three -DWORKERS=3 -DSIGNALS=2 -DWATCH
 *   @deep   three_workers -DWORKERS=3 -DSIGNALS=2
 *   @deep   two_homes -DWORKERS=2 -DSIGNALS=2 -DSIGNALS1=1
 *   @deep   last_asleep -DWORKERS=3 -DSIGNALS=3 -DASLEEP -DLONG
 *   @deep   pinned -DWORKERS=3 -DSIGNALS=1 -DPINNED
 *   @mutant NO_RECHECK -DWORKERS=2 -DSIGNALS=1            sleeps without a second look at the public words
 *   @mutant NO_PRIVATE_RECHECK -DWORKERS=2 -DSPAWNS=1     ... at the private words
 *   @mutant NO_MEMBARRIER -DWORKERS=2 -DSPAWNS=1          the owner's store and load are not ordered by anybody
 *   @mutant HUNGRY_FIRST -DWORKERS=2 -DSPAWNS=2           sets hungry before its bit in sleepers
 *   @mutant NO_HUNGRY -DWORKERS=2 -DSPAWNS=1              does not set hungry
 *   @mutant NO_REARM -DWORKERS=3 -DSPAWNS=2               the owner clears hungry although others still sleep
 *   @mutant FUTEX_VALUE_LATE -DWORKERS=2 -DSIGNALS=1      reads the futex value after the second look
 *   @mutant SLEEPERS_FIRST -DWORKERS=2 -DSIGNALS=1        a signaler reads sleepers before its atomic OR
 *   @mutant LOOKING_LATE -DWORKERS=2 -DSIGNALS=2          looking = 0 after the claim
 *   @mutant LOOKING_ASLEEP -DWORKERS=2 -DSIGNALS=1        looking stays set during the sleep
 *   @mutant STALE_BIT -DWORKERS=2 -DSIGNALS=1 -DSPAWNS=1 -DPINNED   awake with its bit still in sleepers
 *   @mutant NO_REREAD -DWORKERS=2 -DSIGNALS=2             no look at the public words after the claim
 *   @mutant REREAD_OWN -DWORKERS=3 -DSIGNALS=3 -DASLEEP -DLONG            ... at the own public words only
 *   @mutant WATCH_NO_REREAD -DWORKERS=2 -DSIGNALS=1 -DWATCH  a watcher goes on without a look at its words
 *   @mutant WATCH_NO_FENCE -DWORKERS=2 -DSIGNALS=1 -DWATCH   ... or looks before its looking = 0 is visible
 *   @mutant WATCH_NO_MEMBARRIER -DWORKERS=2 -DSIGNALS=1 -DWATCH  who falls asleep does not order a watcher's stores
 *   @mutant DOZE_LEFT -DWORKERS=2 -DSIGNALS=1 -DDOZE     a worker sleeps for good and still counts as one that dozes
 *   @mutant DOZE_LONG -DWORKERS=2 -DSIGNALS=1 -DDOZE     who dozes sleeps until it is woken
 *   @mutant NO_WAKE_HOME -DWORKERS=2 -DSIGNALS=0 -DPINNED the pinned bit is forwarded, its worker not woken
 *
 * Worker 0 starts with a task that spawns (BUSY: and runs for ever), the others with nothing. Signals come from anywhere,
 * to tasks of worker 0 (SIGNALS) and of worker 1 (SIGNALS1). ASLEEP: the last worker sleeps when it begins.
 * DOZE: signals are hand-overs, which wake nobody while somebody dozes; a worker may doze once, before it sleeps.
 * WATCH: once, a worker that looks goes on with its own task, whose condition holds now. LONG: every task runs for ever. A task ends at once, or it runs "for ever": then it ends only when nothing else in the
 * whole system can move, and at every such moment Monitor looks whether a task waits while a worker sleeps. Plain
 * stores (looking, private words) go through a store buffer of the worker. Revocation is one step here (revoke.pml).
 *
 * The protocol, as the code has it:
 *
 *   signal(t):   public.fetch_or(bit, seq_cst)
 *                if sleepers.load(seq_cst) != 0 and !home.looking.load(seq_cst): wake_one()
 *   wake_one():  takes one bit out of sleepers (fetch_and; if somebody else got it, the next); its worker's
 *                futex word += 1; futex wake
 *   worker, nothing private left:
 *     look:      looking = 1; polls all public words, its own pinned words
 *     found:     looking = 0 (before the claim: on x86 a plain store, the claim's atomic operation flushes it; on
 *                aarch64 seq_cst); claim; then, if any worker's public words still show a bit: wake_one()
 *                [all workers' words, not only its own: its own wake-up may have been meant for another task]
 *                a pinned task of another worker: home.pinned.fetch_or(bit); if the home's bit is in sleepers: take
 *                it, wake the home
 *                looking is set only while the private words are empty: taking a private task is no atomic operation.
 *     watcher (a task that polls its condition): looking = 0 (a plain store); if sleepers.load() == 0: goes on;
 *                else looking.exchange(0); if its own public words show a bit: wake_one(); goes on
 *     sleep:     looking = 0; v = futex word; sleepers.fetch_or(me)
 *                attention.fetch_or(hungry) on every other worker; membarrier
 *                second look: all public words, own pinned words, all private words
 *                  found: sleepers.fetch_and(~me) (its bit may be gone: fine); private: revoke; goes on looking
 *                  else:  futex_wait(futex word == v); sleepers.fetch_and(~me), however it returned: a waker that
 *                         took the bit of an earlier sleep may change the word late, and leave this sleep's bit set
 *     doze:      the same, with dozing += 1 first and without a look at what was handed over; the wait ends by itself.
 *                If its bit in sleepers is gone then: waits for who took it. dozing -= 1; looks
 *                [hand-over: push (an atomic operation); if sleepers.load() != 0 and dozing.load() == 0: as signal]
 *   owner, after each change of a private word, a = attention, a & hungry:
 *                attention.fetch_and(~hungry)
 *                if sleepers.load(seq_cst) != 0: if there is a private task: publish the oldest, wake_one()
 *                if sleepers.load(seq_cst) != 0: attention.fetch_or(hungry)       [still armed for the others]
 *
 * Proved: whenever nothing moves, no public and no private task exists while anybody sleeps, no pinned task while
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
#define HOMES 2                       /* workers whose tasks are signaled; looking matters only to signalers */
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
bit  looking[HOMES];
bit  looking_buf[HOMES];              /* looking as the worker itself sees it */
byte sleepers = 0;
bit  hungry = 0;                      /* worker 0's */
bit  woken[WORKERS];                  /* the futex word has changed since its worker has read it */
byte dozing = 0;                      /* of the sleepers, how many look by themselves soon */
byte in_task = 0;                     /* workers whose task runs for ever */

#define own_private (buffered -> private_buf : private)

#define drain_private() if :: buffered -> private = private_buf; private_buf = 0; buffered = 0 :: else fi
#define drain(w)        d_step { if :: w < HOMES -> looking[w] = looking_buf[w] :: else fi; \
                                 if :: w == 0 -> drain_private() :: else fi }
#define drain_all()     d_step { looking[0] = looking_buf[0]; looking[HOMES - 1] = looking_buf[HOMES - 1]; \
                                 drain_private() }
#define set_looking(x)  if :: w < HOMES -> looking_buf[w] = x :: else fi

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

inline signal(home, bits) {
#ifdef MUTANT_SLEEPERS_FIRST
    s = sleepers; public[home] = public[home] | (bits);
#else
    public[home] = public[home] | (bits); s = sleepers;
#endif
    if
#ifdef DOZE
    :: s != 0 && dozing != 0 -> skip
    :: s != 0 && dozing == 0 -> if :: looking[home] :: else -> wake_one() fi
#else
    :: s != 0 -> if :: looking[home] :: else -> wake_one() fi
#endif
    :: s == 0
    fi;
    s = 0
}

proctype Signaler(byte home; byte bits) { byte s; signal(home, bits) }

/* owner, hungry seen */
inline attend() {
    if
    :: hungry ->
        atomic { drain(0); hungry = 0 };
        if
        :: sleepers != 0 ->
            if
            :: atomic { own_private > 0 -> private_buf = own_private - 1; buffered = 1 }; /* publish */
                atomic { drain(0); public[0] = public[0] + 8 };
                wake_one()
            :: own_private == 0
            fi
        :: else
        fi;
#ifndef MUTANT_NO_REARM
        if :: sleepers != 0 -> atomic { drain(0); hungry = 1 } :: else fi
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

/* after the claim: somebody may have relied on this worker's looking */
inline reread() {
#ifdef MUTANT_NO_REREAD
    skip
#else
    s = 0;
#ifdef MUTANT_REREAD_OWN
    if :: w < HOMES && public[w] != 0 -> s = 1 :: else fi;
#else
    if :: public[0] != 0 -> s = 1 :: else fi;
#if HOMES == 2
    if :: public[1] != 0 -> s = 1 :: else fi;
#endif
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
#ifdef MUTANT_LOOKING_LATE
    atomic { drain(w); take(h) };
    set_looking(0);
#else
    set_looking(0);
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

proctype Worker(byte w) {
    byte s, t; byte spawns = SPAWNS;
    bit doze = 0;
#ifdef DOZE
    bit dozes = 1;                    /* left to do */
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
        :: atomic { own_private > 0 && spawns > 0 -> private_buf = own_private - 1; buffered = 1 }; attend()
        :: spawns > 0 -> spawns--; atomic { private_buf = own_private + 1; buffered = 1 }; attend()
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
        :: atomic { own_private > 0 -> private_buf = own_private - 1; buffered = 1 }; attend(); run_task()
        :: own_private == 0 -> skip   /* revoked meanwhile */
        fi;
        goto search
    :: !(w == 0 && own_private > 0) -> skip
    fi;

look:
    atomic { set_looking(1) };
    if
#ifdef WATCH
    :: w < HOMES && watches && !searches -> /* its condition holds */
        watches = 0;
        set_looking(0);
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
    :: public[0] != 0 -> claim(0)
#if HOMES == 2
    :: public[1] != 0 -> claim(1)
#endif
    :: w == 0 && pinned ->
        set_looking(0);
        atomic { drain(w); pinned = 0 };
        reread(); run_task(); goto search
    :: public[0] == 0 && public[HOMES - 1] == 0 && !(w == 0 && pinned) ->
        skip                          /* nothing for long enough: sleep */
    fi;

#ifdef DOZE
    if
    :: dozes -> dozes = 0; doze = 1; atomic { drain(w); dozing++ }
    :: true
    fi;
#endif
#ifndef MUTANT_FUTEX_VALUE_LATE
    woken[w] = 0;                     /* v = futex word */
#endif
#ifndef MUTANT_LOOKING_ASLEEP
    set_looking(0);
#endif
#ifdef MUTANT_HUNGRY_FIRST
    if :: w != 0 -> atomic { drain(w); hungry = 1 } :: else fi;
    atomic { drain(w); sleepers = sleepers | BIT(w) };
#else
    atomic { drain(w); sleepers = sleepers | BIT(w) };
#ifndef MUTANT_NO_HUNGRY
    if :: w != 0 && SPAWNS > 0 -> hungry = 1 :: else fi;
#endif
#endif
#if !defined(MUTANT_NO_MEMBARRIER) && !defined(MUTANT_WATCH_NO_MEMBARRIER)
    drain_all();
#endif
    if
#ifndef MUTANT_NO_RECHECK
    :: doze
    :: !doze && public[0] != 0 -> goto found
    :: !doze && public[0] == 0 -> skip
#else
    :: true
#endif
    fi;
    if
#if HOMES == 2 && !defined(MUTANT_NO_RECHECK)
    :: public[1] != 0 -> goto found
    :: public[1] == 0 -> skip
#else
    :: true
#endif
    fi;
    if
    :: w == 0 && pinned -> goto found
    :: else
    fi;
    if
#ifndef MUTANT_NO_PRIVATE_RECHECK
    :: w != 0 && private != 0 -> goto found
#endif
    :: else
    fi;
#ifdef MUTANT_FUTEX_VALUE_LATE
    woken[w] = 0;
#endif
#ifdef DOZE
    if
    :: doze ->
#ifdef MUTANT_DOZE_LONG
        woken[w];
#endif
        s = 0;
        atomic { s = ((sleepers & BIT(w)) -> 0 : 1); sleepers = sleepers & ~BIT(w) };
        if :: s -> woken[w] :: else fi;
        s = 0;
#ifndef MUTANT_DOZE_LEFT
        atomic { drain(w); dozing-- };
#endif
        doze = 0;
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
#ifdef DOZE
    if :: doze -> doze = 0; dozing-- :: else fi;
#endif
#ifdef WATCH
    searches = 1;
#endif
    atomic { sleepers = sleepers & ~BIT(w) };
    if
    :: w != 0 && private != 0 -> /* revoke */
        atomic { drain(0); public[0] = public[0] + 8 * private; private = 0 }
    :: else
    fi;
    goto look
}

active proctype Flush() {
end:
    do
    :: d_step { buffered -> private = private_buf; private_buf = 0; buffered = 0 }
    :: d_step { looking[0] != looking_buf[0] -> looking[0] = looking_buf[0] }
#if HOMES == 2
    :: d_step { looking[1] != looking_buf[1] -> looking[1] = looking_buf[1] }
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
        sleepers = BIT(WORKERS - 1); hungry = 1;
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
