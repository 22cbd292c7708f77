/* Revocation: a thief takes private tasks back from a worker that reaches no scheduling point.
 *
 *   @large  two_words
 *   @true   one_revocation -DSPAWNS=2 -DREVOCATIONS=1
 *   @large  one_word -DWORDS=1
 *   @large  exchange -DEXCHANGE -DSPAWNS=2    poll_requests() with exchange(0) whose result is heeded
 *   @large  trimmed -DTRIMS -DSPAWNS=2 -DREVOCATIONS=2
 *   @deep   longer -DSPAWNS=4
 *   @mutant NO_MEMBARRIER       the thief reads the private words without a membarrier
 *   @mutant NO_LOAD             the owner does not load request_flags after it has cleared a private bit
 *   @mutant LOAD_FIRST          the owner loads request_flags before it clears the private bit
 *   @mutant MOVE_TWICE          a second revocation takes bits again that an earlier one has moved
 *   @mutant NO_RECONCILE_SET    no look at request_flags before the owner sets the bit of a task that was about
 *   @mutant NO_RECONCILE_FREE   no look at request_flags before the owner frees a slot
 *   @mutant NO_RECONCILE_DRAIN  no look at request_flags after the owner drained the slots that others freed
 *   @mutant DROP_REVOKED        the owner answers "work_requested" with request_flags = 0
 *   @mutant READY_LAST          the thief makes the task ready after it has set the public bit
 *   @mutant PUBLISH_UNSEEN      publish does not look whether the task has been moved meanwhile
 *   @mutant TRIM_FIRST -DTRIMS  the owner answers a trim, which reconciles, before it asks what was moved
 *
 * Two slots, in one private word or in two. The owner's plain stores go through a store buffer, one for each word and each
 * two entries deep: its stores to different words reach memory in any order, which covers aarch64 as well as x86.
 *
 * The protocol, as the code has it (request_flags: bits revoked, work_requested; work_requested is the business of sleep.pml):
 *
 *   owner, every change of a private word:
 *     private[w] = v (plain; release on aarch64), compiler barrier, a = request_flags (plain load)
 *     if a == 0: done          else: poll_requests(a)
 *   poll_requests(a):   if a & work_requested:  request_flags.fetch_and(~work_requested) [then as sleep.pml says]
 *                if a & revoked: reconcile()
 *                (a = request_flags.exchange(0) is right as well, if a & revoked of the value returned is heeded; all
 *                others set and clear bits of request_flags by fetch_or and fetch_and, never by a plain store.)
 *   reconcile(): lock; for all w: private[w] &= ~moved[w], m[w] = moved[w], moved[w] = 0;
 *                request_flags.fetch_and(~revoked); unlock
 *     A task that the owner was about to take (pick, inline join, publish) and finds in m is in the public words: it is
 *     claimed there like any other, or left there.
 *                if a & trim: request_flags.fetch_and(~trim); drain; if request_flags & revoked: reconcile()
 *     The trim comes last: what its reconcile() moved is hidden from the owner that has just claimed a task.
 *   owner, before it sets the private bit of a task that comes from public words or from a hand-off (it yields, or one
 *   look has brought all signaled tasks of a word: ready_set::add_yielded, add_ready), before it frees a slot, and after
 *   it has drained the slots that other workers freed:  if request_flags & revoked: reconcile()
 *     Else the private word may still hold the bit that moved there; the owner then sets it again (yield of that task,
 *     spawn into that slot), sees revoked and clears its own new bit as "moved": the task is lost.
 *     Invariant, worth an assertion in debug builds: a private bit that is being set is not set yet.
 *
 *   thief: lock; if !(request_flags & revoked): request_flags.fetch_or(revoked), membarrier
 *          for all w: x = private[w] & ~moved[w]; moved[w] |= x; for t in x: t.state = ready; public[w].fetch_or(x)
 *          unlock
 *     While revoked is still set no second membarrier is needed: the owner has at most one store on its way,
 *     and looks into moved before it does anything on the strength of it.
 *
 * Proved: each runnable task is run exactly once, none is lost, a public bit always names a ready task.
 */
#define BUSY  0
#define READY 1

#ifndef SPAWNS
#define SPAWNS 3
#endif
#ifndef YIELDS
#define YIELDS 1
#endif
#ifndef REVOCATIONS
#define REVOCATIONS 3
#endif
#ifndef WORDS
#define WORDS 2
#endif
#define SLOTS   2
#define ALL     3
#define BIT(i)  (1 << (i))
#if WORDS == 2
#define WORD(i) (i)                   /* a word each */
#else
#define WORD(i) 0                     /* both in one word */
#endif

#define REVOKED 1
#define WORK_REQUESTED  2
#define TRIM    4

byte mem[2];                          /* ready_set::private_, as other processors see it */
byte b0[2]; byte b1[2]; byte n[2];    /* the owner's store buffer: older entry, newer entry, number of entries */
byte request_flags = 0;
byte moved[2];
bit  lock = 0;
byte public = 0;                      /* the public words, as one */
bit  state[SLOTS];
byte freed = 0;                       /* slots freed by other workers, drained by the owner */
bit  done = 0;

mtype = { none, runnable, running };  /* what is true of a slot's task, seen from outside */
mtype task[SLOTS] = none;

#define newest(w)   (n[w] == 0 -> mem[w] : (n[w] == 1 -> b0[w] : b1[w]))
#define flush_one(w) d_step { n[w] > 0 -> mem[w] = b0[w]; b0[w] = b1[w]; b1[w] = 0; n[w]-- }
#define drain()     d_step { mem[0] = newest(0); mem[1] = newest(1); \
                             n[0] = 0; n[1] = 0; b0[0] = 0; b0[1] = 0; b1[0] = 0; b1[1] = 0 }

#define store(w, v) d_step { val = (v); \
                             if :: n[w] == 0 -> b0[w] = val; n[w] = 1 \
                                :: n[w] == 1 -> b1[w] = val; n[w] = 2 \
                                :: else -> mem[w] = b0[w]; b0[w] = b1[w]; b1[w] = val fi }

/* One step: whatever is touched here, others touch under the lock only. */
inline reconcile() {
    atomic {
        !lock -> drain();
        d_step {
            m = moved[0] | moved[1];
            mem[0] = mem[0] & ~moved[0]; mem[1] = mem[1] & ~moved[1];
            moved[0] = 0; moved[1] = 0;
            request_flags = request_flags & ~REVOKED
        }
    }
}

/* what others freed, and what thieves took, is the owner's to know from here on */
inline trim() {
    atomic { drain(); request_flags = request_flags & ~TRIM; mine = mine | freed; freed = 0 };
    if :: request_flags & REVOKED -> kept = m; reconcile(); m = kept; kept = 0 :: else fi
}

inline poll_requests() {
    m = 0;
#ifndef MUTANT_LOAD_FIRST
    a = request_flags;
#endif
#ifdef MUTANT_TRIM_FIRST
    if :: a & TRIM -> trim() :: else fi;
    a = request_flags;
#endif
#ifdef EXCHANGE
    if :: a -> atomic { drain(); a = request_flags; request_flags = 0 } :: else fi;
#endif
    if
    :: a & WORK_REQUESTED ->
#ifdef MUTANT_DROP_REVOKED
        atomic { drain(); request_flags = 0 }
#else
        atomic { drain(); request_flags = request_flags & ~WORK_REQUESTED }
#endif
    :: else
    fi;
    if :: a & REVOKED -> reconcile() :: else fi;
#ifdef TRIMS
    if :: a & TRIM -> trim() :: else fi;
#endif
    a = 0
}

inline reconcile_if_revoked() { if :: request_flags & REVOKED -> reconcile() :: else fi }

inline set_private(i) {
#ifdef MUTANT_LOAD_FIRST
    a = request_flags;
#endif
    store(WORD(i), newest(WORD(i)) | BIT(i)); poll_requests()
}
inline clear_private(i) {
#ifdef MUTANT_LOAD_FIRST
    a = request_flags;
#endif
    store(WORD(i), newest(WORD(i)) & ~BIT(i));
#ifdef MUTANT_NO_LOAD
    m = 0
#else
    poll_requests()
#endif
}

inline start(i) { atomic { assert(task[i] == runnable); task[i] = running } }

inline claim(i) {                     /* its public bit has been taken out by the caller */
    atomic { assert(state[i] == READY); state[i] = BUSY }
}

/* the owner's turn with task i: to its end, or to a yield */
inline run_here(i) {
    start(i);
    if
    :: true ->
#ifndef MUTANT_NO_RECONCILE_FREE
        reconcile_if_revoked();
#endif
        d_step { task[i] = none; mine = mine | BIT(i) }
    :: yields > 0 -> d_step { yields--; task[i] = runnable };
#ifndef MUTANT_NO_RECONCILE_SET
        reconcile_if_revoked();
#endif
        set_private(i)
    fi
}

active proctype Owner() {
    byte i, a, m, val, kept; byte mine = ALL; byte spawns = SPAWNS; byte yields = YIELDS;
    do
    :: (spawns > 0 && mine) -> /* spawn into a free slot */
        atomic { i = (mine & 1 -> 0 : 1);     /* the lowest free slot */
                 spawns--; mine = mine & ~BIT(i); task[i] = runnable };
        set_private(i)
    :: ((newest(0) | newest(1)) != 0) -> /* some private bit: pick it, join it inline, or publish it */
        atomic { if :: ((newest(WORD(0)) & 1) != 0) -> i = 0 :: ((newest(WORD(1)) & 2) != 0) -> i = 1 fi };
        if
        :: true -> /* pick, or an inline join */
            clear_private(i);
            if :: m & BIT(i) -> skip :: else -> run_here(i) fi
        :: true -> /* publish */
            clear_private(i);
#ifdef MUTANT_PUBLISH_UNSEEN
            m = 0;
#endif
            if
            :: m & BIT(i) -> skip
            :: else -> state[i] = READY; atomic { drain(); public = public | BIT(i) }
            fi
        fi
    :: atomic { (public & ALL) != 0 -> /* claim from the public words */
            if :: (public & 1) -> i = 0 :: (public & 2) -> i = 1 fi;
            drain(); public = public & ~BIT(i) };
        claim(i);
        if
        :: true -> run_here(i)
        :: true -> /* gathered: it waits for its turn, as after a yield */
#ifndef MUTANT_NO_RECONCILE_SET
            reconcile_if_revoked();
#endif
            set_private(i)
        fi
    :: atomic { freed != 0 -> drain(); mine = mine | freed; freed = 0 }; /* exchange */
#ifndef MUTANT_NO_RECONCILE_DRAIN
        if :: request_flags & REVOKED -> reconcile() :: else fi
#endif
    :: (spawns == 0 && mine == ALL) -> done = 1; break
    od
}

active proctype Flush() {
    do
    :: flush_one(0)
    :: flush_one(1)
    :: done -> break
    od
}

active proctype Requester() { request_flags = request_flags | WORK_REQUESTED }

#ifdef TRIMS
active proctype Trimmer() { request_flags = request_flags | TRIM }
#endif

active proctype Thief() {
    byte i, x, w; byte revocations = REVOCATIONS; byte yields = YIELDS;
    do
    :: revocations > 0 -> /* revoke */
        atomic { revocations--; !lock -> lock = 1 };
        if
        :: !(request_flags & REVOKED) ->
            request_flags = request_flags | REVOKED;
#ifndef MUTANT_NO_MEMBARRIER
            drain()                   /* membarrier: the owner's stores so far are in memory */
#endif
        :: else
        fi;
        w = 0;
        do
        :: w < WORDS ->
#ifdef MUTANT_MOVE_TWICE
            x = mem[w];
#else
            x = mem[w] & ~moved[w];
#endif
            moved[w] = moved[w] | x;
#ifdef MUTANT_READY_LAST
            public = public | x;
#endif
            d_step {
                if :: x & 1 -> state[0] = READY :: else fi;
                if :: x & 2 -> state[1] = READY :: else fi
            };
#ifndef MUTANT_READY_LAST
            public = public | x;
#endif
            w++
        :: w == WORDS -> break
        od;
        atomic { x = 0; w = 0; i = 0; lock = 0 }
    :: atomic { (public & ALL) != 0 ->
            if :: (public & 1) -> i = 0 :: (public & 2) -> i = 1 fi;
            public = public & ~BIT(i) };
        claim(i);
        start(i);
        if
        :: true -> d_step { task[i] = none; freed = freed | BIT(i) }
        :: yields > 0 -> d_step { yields--; task[i] = runnable }; state[i] = READY; public = public | BIT(i)
        fi
    :: done -> break
    od
}
