/* Suspending a task: wait, signal, claim, publish, yield, the retained signal (pending_wakeup), the pinned state.
 *
 *   @true   one_thief -DTHIEVES=1
 *   @large  safety
 *   @large  no_livelock np -DTHIEVES=1
 *   @mutant NO_WAKEUP_CHECK       the next context does not check pending_wakeup after state = ready
 *   @mutant NO_WAKEUP_STORE       a claim that fails forgets the signal
 *   @mutant CLAIM_ONCE            a claim that took pending_wakeup back and fails again stores it and leaves
 *   @mutant WAKEUP_STORE_RELAXED  claim: the load of state overtakes pending_wakeup = 1
 *   @mutant READY_STORE_RELAXED   mark_suspended: the load of pending_wakeup overtakes state = ready
 *   @mutant WAKEUP_CLEAR_PLAIN    wait: "pending_wakeup = 0" is a plain store (and sits in a store buffer)
 *   @mutant READY_BEFORE_SAVE     mark_suspended: state = ready while the task's registers are not saved yet
 *   @mutant PUBLISH_BIT_FIRST     publish: the public bit before state = ready
 *   @mutant DROP_PINNED           a thief that meets a pinned task drops the bit
 *   @mutant WAKEUP_FOR_PINNED     a thief that meets a pinned task sets pending_wakeup instead of forwarding
 *   @mutant THIEF_RUNS_PINNED     a thief claims ready_pinned
 *   @mutant NO_LAZY_CLEAR np      wait does not consume the bit that an earlier wait saw and left
 *   @mutant STAY_AWAY             a pinned task goes on where a task in place above it has ended
 *   @mutant HOME_AS_READY         it is taken home, but any worker may claim it on the way
 *
 * One slot, used for two tasks one after the other (so that late claims hit the wrong task). Its home worker, two
 * thieves, one signaler a task and one that signals at random. Memory is sequentially consistent; where an
 * atomic operation must be seq_cst, a mutant executes the later load before the store, which is what a store
 * buffer does. CLAIM_ONCE needs three workers that claim at the same time, each for a signal of its own.
 *
 * The protocol, as the code has it (state: busy, ready, ready_pinned; pending_wakeup: one retained signal):
 *
 *   signal(t):        public[t.word].fetch_or(t.bit, seq_cst); [summary, sleepers: levels.pml, sleep.pml]
 *
 *   claim(t):         [t's bit has been removed from a public word (or from the home's pinned word)]
 *     s = ready
 *     loop:
 *       if s == ready or (s == ready_pinned and this worker is t's home):
 *           if CAS(state, s -> busy, seq_cst): run t, return
 *           [a failed CAS leaves the value seen in s]           if s != busy: continue
 *       else if s == ready_pinned:
 *           home.pinned[t.word].fetch_or(t.bit, seq_cst); wake the home worker if it sleeps; return
 *       pending_wakeup.store(1, seq_cst)
 *       s = state.load(seq_cst);            if s == busy: return     t's next wait or suspension takes it
 *       if pending_wakeup.exchange(0) == 0: return                            the one that took it acts on it
 *     Forwarding needs no second look: the pinned bit is a signal like any other, whatever state has become by the
 *     time when the home takes it, for the home then runs this same claim. Only the home claims ready_pinned.
 *
 *   wait() in t:
 *     if pending_wakeup.load() and pending_wakeup.exchange(0): return                [exchange: see WAKEUP_CLEAR_PLAIN]
 *     if own public bit is set: public.fetch_and(~bit); return     [left by an earlier wait that saw it: lazy]
 *     spin a while, state still busy:  pending_wakeup set: pending_wakeup.exchange(0), return
 *                                      own public bit set: return, leave the bit where it is
 *     switch away; the next context, once t's registers are saved:  mark_suspended(t)
 *   mark_suspended(t):          state.exchange(pinned ? ready_pinned : ready, seq_cst)
 *                     if pending_wakeup.load(seq_cst) and pending_wakeup.exchange(0): signal(t)
 *   publish(t):       clear the private bit [revoke.pml]; state.store(ready, release); public.fetch_or(bit)
 *   yield in t:       the next context: on its home: private bit = 1, state stays busy; or, anywhere:
 *                     state.exchange(ready or ready_pinned), public (pinned: home's pinned word) .fetch_or(bit)
 *   A pinned task is claimed, resumed and suspended on its home worker only; its private bit is never published.
 *   in place:         what a pinned task joins on its own stack is not pinned. Where that suspends, the stack may go
 *                     on elsewhere, the pinned task below it still busy. When it has ended: if this worker is not
 *                     home, the pinned task leaves as by a yield: state.exchange(ready_pinned), home's pinned bit
 *
 * Proved: never two runners; a pinned task runs on its home only; every task that is signaled after its condition
 * was set runs again (an end state in which a task still waits is an error); no cycle of any kind (no_livelock).
 */
#define BUSY         0
#define READY        1
#define READY_PINNED 2
#define HOME         0
#define TASKS        2
#ifndef THIEVES
#define THIEVES      2
#endif

byte state = BUSY;    /* task::state_ */
bit  pending_wakeup = 0;       /* task::pending_wakeup */
bit  pub   = 0;       /* its bit in the home's public words */
bit  pin   = 0;       /* its bit in the home's pinned words: thieves do not read them */
bit  priv  = 0;       /* its bit in the home's private words */

byte task = 0;        /* the slot's tasks so far */
bit  live = 0;        /* a task is in the slot */
bit  flag[TASKS];     /* what the task waits for */
byte runners = 0;
bit  pinned = 0;
byte yields = 1;
bit  away = 0;        /* a task in place above it has suspended, on the same stack */
byte trips = 1;
bit  clearing = 0;    /* WAKEUP_CLEAR_PLAIN: pending_wakeup = 0 is still in the store buffer of the task's worker */

#define FINISHED (task == TASKS && !live)
#define FLAG     flag[task - 1]

#define drain()       atomic { if :: clearing -> pending_wakeup = 0; clearing = 0 :: else fi }
#define take_pending_wakeup()  atomic { tk = pending_wakeup; pending_wakeup = 0 }
#define pending_wakeup_seen    (pending_wakeup && !clearing)

inline consume_pending_wakeup() {
#ifdef MUTANT_WAKEUP_CLEAR_PLAIN
    clearing = 1
#else
    atomic { pending_wakeup = 0 }
#endif
}

/* the rest of a wait, in the next context; pn: was the task pinned */
inline mark_suspended(pn) {
#ifdef MUTANT_READY_STORE_RELAXED
    if
    :: pending_wakeup ->
        state = (pn -> READY_PINNED : READY); take_pending_wakeup();
        if :: tk -> pub = 1 :: else fi
    :: else -> state = (pn -> READY_PINNED : READY)
    fi
#else
    atomic { drain(); state = (pn -> READY_PINNED : READY) };
#ifndef MUTANT_NO_WAKEUP_CHECK
    if
    :: pending_wakeup -> take_pending_wakeup(); if :: tk -> pub = 1 :: else fi
    :: else
    fi
#endif
#endif
}

inline run_task() {
    atomic { runners++; assert(runners == 1); assert(live); assert(!pinned || me == HOME) };
    run_on()
}

inline run_on() {
    do
    :: pinned && trips > 0 -> atomic { trips--; runners--; away = 1 }; break
    :: FLAG -> /* completion: state stays busy, the slot becomes free */
        atomic { drain(); runners--; pinned = 0; live = 0 }; break
    :: !FLAG -> /* wait() */
        if
        :: pending_wakeup_seen -> consume_pending_wakeup()
        :: !pending_wakeup_seen ->
            if
#ifndef MUTANT_NO_LAZY_CLEAR
            :: pub -> atomic { drain(); pub = 0 }
            :: !pub ->
#else
            :: true ->
#endif
                if
                :: pending_wakeup_seen -> consume_pending_wakeup()          /* spun: took it */
                :: pub -> skip                            /* spun: saw the bit, leaves it */
                :: true ->                                /* spun without result */
                    pn = pinned;
#ifdef MUTANT_READY_BEFORE_SAVE
                    state = READY; runners--;
#else
                    runners--;
#endif
                    mark_suspended(pn); break
                fi
            fi
        fi
    :: yields > 0 -> /* yield() */
        atomic { yields--; pn = pinned; runners-- };
        if
        :: me == HOME -> priv = 1
        :: true ->
            atomic { drain(); state = (pn -> READY_PINNED : READY) };
            if :: pn -> pin = 1 :: else -> pub = 1 fi
        fi;
        break
    od
}

/* the task in place is claimed, by its own bit, and ends */
inline end_in_place() {
    atomic { runners++; assert(runners == 1); assert(live && pinned && state == BUSY) };
#ifndef MUTANT_STAY_AWAY
    if
    :: me != HOME ->
        runners--;
#ifdef MUTANT_HOME_AS_READY
        atomic { drain(); state = READY }; pub = 1
#else
        atomic { drain(); state = READY_PINNED }; pin = 1
#endif
    :: else -> run_on()
    fi
#else
    assert(!pinned || me == HOME); run_on()
#endif
}

inline claim() {
    s = READY;
    do
    :: s == READY || (s == READY_PINNED && me == HOME) ->
        atomic { if :: state == s -> state = BUSY; ok = 1 :: else -> s = state; ok = 0 fi };
        if
        :: ok -> run_task(); break
        :: else
        fi
    :: s == READY_PINNED && me != HOME ->
#ifdef MUTANT_THIEF_RUNS_PINNED
        atomic { if :: state == s -> state = BUSY; ok = 1 :: else -> s = state; ok = 0 fi };
        if
        :: ok -> run_task(); break
        :: else
        fi
#else
#ifdef MUTANT_WAKEUP_FOR_PINNED
        pending_wakeup = 1;
#else
#ifndef MUTANT_DROP_PINNED
        pin = 1;      /* home.pinned.fetch_or */
#endif
#endif
        break
#endif
    :: s == BUSY ->
#ifdef MUTANT_WAKEUP_STORE_RELAXED
        s = state; pending_wakeup = 1;
#else
#ifndef MUTANT_NO_WAKEUP_STORE
        pending_wakeup = 1;
#endif
        s = state;
#endif
        if :: s == BUSY -> break :: else fi;
        take_pending_wakeup();
        if :: tk :: else -> break fi;
#ifdef MUTANT_CLAIM_ONCE
        atomic { if :: state == READY -> state = BUSY; ok = 1 :: else -> ok = 0 fi };
        if :: ok -> run_task() :: else -> pending_wakeup = 1 fi;
        break
#endif
    od
}

active proctype Home() {
    byte s; bit ok, tk, pn; byte me = HOME;
    do
    :: !live && task < TASKS -> /* spawn: the slot's new task is private */
        assert(state == BUSY);
        pending_wakeup = 0;
        atomic { live = 1; task++; priv = 1; if :: pinned = 0 :: pinned = 1 fi }
    :: priv -> priv = 0; run_task()
    :: priv && !pinned -> /* publish */
        priv = 0;
#ifdef MUTANT_PUBLISH_BIT_FIRST
        pub = 1; state = READY
#else
        state = READY; pub = 1
#endif
    :: atomic { pub -> pub = 0 }; claim()
    :: atomic { pin -> pin = 0 }; claim()
    :: atomic { away -> away = 0 }; end_in_place()
    :: FINISHED -> break
    od
}

active [THIEVES] proctype Thief() {
    byte s; bit ok, tk, pn; byte me = 1;
    do
    :: atomic { pub -> pub = 0 }; claim()
    :: atomic { away -> away = 0 }; end_in_place()
    :: FINISHED -> break
    od
}

proctype Signaler(byte which) {
    (task > which);               /* the task's id is known once it has been spawned */
    flag[which] = 1;
    pub = 1                       /* signal */
}

active proctype Spurious() { pub = 1 }

#ifdef MUTANT_WAKEUP_CLEAR_PLAIN
active proctype Flush() { do :: clearing -> drain() :: FINISHED -> break od }
#endif

init { atomic { run Signaler(0); run Signaler(1) } }
