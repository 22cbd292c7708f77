/* Fairness: a ready task runs after a bounded number of decisions of any worker that decides.
 *
 *   @true   public -DVICTIM=PUBLIC       the task is among the public words of a worker that computes
 *   @large  private -DVICTIM=PRIVATE     ... among the private ones
 *   @true   handed -DVICTIM=HANDED_OFF       ... was handed off there
 *   @large  foreign -DVICTIM=FOREIGN     ... was spawned by a foreign thread
 *   @large  own -DVICTIM=OWN             ... is one of the decider's own that newer ones always precede
 *   @mutant LOWEST_FIRST -DVICTIM=PUBLIC     a thief always takes the lowest bit
 *   @mutant LOWEST_FOREIGN -DVICTIM=FOREIGN  the same of foreign threads' tasks
 *   @mutant OWN_ONLY -DVICTIM=PUBLIC         the rotation has the worker's own sources alone
 *   @mutant NO_LOOK -DVICTIM=PRIVATE         no worker checks what a worker hides
 *   @mutant LOOK_LAST -DVICTIM=PRIVATE       ... or only after a turn in which others had nothing public
 *   @mutant NO_WATCH -DVICTIM=HANDED_OFF     handed-off tasks are the business of idle workers
 *   @mutant STAY -DVICTIM=OWN                a source that has something is taken from again the next time
 *   @mutant TICK_LOST -DVICTIM=PUBLIC        a pick that finds something early is not counted as a decision
 *
 * Worker 0 decides, again and again; worker 1 computes forever, and its count of decisions does not change. The victim
 * became ready before the first decision. Everything else is the adversary's: tasks of every kind, in slots below and above
 * the victim's, become ready again as soon as they have run, or not, as it likes.
 *
 * The protocol, as the code has it (pick_from_sources in fult/scheduler/worker.cpp, fult/scheduler/work_sources.hpp):
 *
 *   decision:  tick += 1
 *              tick % FAIR != 0: what was handed off here, the newest own task, else a public one, in this order
 *              else: the next source of the rotation that has something; the rotation goes on behind it
 *   source:    a sweep: the next ready task from the slot on that it has reached; at the end, from the beginning
 *   others:    a sweep over the homes of the others, a home a turn
 *   hidden:    each LOOKth turn: the worker looked at last has decided nothing since: its private tasks are
 *              revoked and one is run; or the first task handed off there, if it was the first
 *              at the last look
 *
 * Proved: the victim has run after BOUND decisions at most, whatever the adversary does.
 */
#define PUBLIC 1
#define PRIVATE 2
#define HANDED_OFF 3
#define FOREIGN 4
#define OWN 5
#ifndef VICTIM
#define VICTIM PUBLIC
#endif

#define FAIR 2  /* 32 in the code */
#define LOOK 2  /* 16 */
#define SLOTS 3 /* of each home; the victim has the middle one, the adversary the others */
#define MINE 1

/* of the rotation: each is asked once in so many turns, and passes each of SLOTS tasks at most before it comes to one */
#define SOURCES 4
#define BOUND (FAIR * SOURCES * LOOK * (SLOTS + 2))

bool ready[SLOTS]; /* bits of the victim's kind: foreign, other's public, other's private, own */
bool victim_ran = false;
byte now = 0; /* decisions */
byte tick = 0, turn = 0;
byte at = 0;    /* the position of the sweep over the victim's kind */
byte looks = 0;
bool watched = false; /* the chain of worker 1 was looked at, and its first task has not changed */
byte s = 0, i = 0, tries = 0; /* counters of loops */
bool revoked = false; /* the private ones have become public */

/* What the adversary has ready of another kind: it may always have something. */
inline maybe(found) {
    if
    :: found = true
    :: found = false
    fi
}

/* The adversary's tasks of the victim's kind, in any slots but its own. */
inline adversary() {
    do
    :: s < SLOTS ->
        if
        :: s != MINE -> if :: ready[s] = true :: ready[s] = false fi
        :: else -> skip
        fi;
        s++
    :: else -> break
    od;
    s = 0
}

inline execute(slot) {
    ready[slot] = false;
    if
    :: slot == MINE -> victim_ran = true
    :: else -> skip
    fi
}

/* The next from the sweep's place on; around. */
inline sweep(found) {
    found = false;
    do
    :: i < SLOTS && !found ->
        if
        :: ready[(at + i) % SLOTS] ->
            found = true;
            execute((at + i) % SLOTS);
            at = (at + i + 1) % SLOTS
        :: else -> i++
        fi
    :: else -> break
    od;
    i = 0
}

inline lowest(found) {
    at = 0;
    sweep(found)
}

inline take_public(found) {
#ifdef MUTANT_LOWEST_FIRST
    lowest(found)
#else
    sweep(found)
#endif
}

inline take_of_others(found) {
#ifdef MUTANT_OWN_ONLY
    found = false
#else
    if
    :: VICTIM == PUBLIC || revoked -> take_public(found)
    :: else -> maybe(found)
    fi
#endif
}

inline take_hidden(found) {
    found = false;
    looks++;
    if
    :: looks == LOOK ->
        looks = 0;
        if
        :: VICTIM == PRIVATE ->
#ifndef MUTANT_NO_LOOK
            revoked = true; /* worker 1 has decided nothing since the last look */
            sweep(found)
#else
            skip
#endif
        :: VICTIM == HANDED_OFF ->
#ifndef MUTANT_NO_WATCH
            if
            :: watched -> found = true; victim_ran = true /* the first of a chain that does not move */
            :: else -> watched = true
            fi
#else
            skip
#endif
        :: else -> maybe(found)
        fi
    :: else -> skip
    fi
}

inline take_foreign(found) {
    if
    :: VICTIM == FOREIGN ->
#ifdef MUTANT_LOWEST_FOREIGN
        lowest(found)
#else
        sweep(found)
#endif
    :: else -> maybe(found)
    fi
}

inline take_own(found) {
    if
    :: VICTIM == OWN -> sweep(found)
    :: else -> maybe(found)
    fi
}

/* What comes first where fairness does not matter: anything of the adversary's. A task of the victim's kind may happen to
   run here too, but never must. */
inline newest(found) { maybe(found) }

inline rotate(found) {
    found = false;
    do
    :: tries < SOURCES && !found ->
        if
        :: turn == 0 -> take_foreign(found)
        :: turn == 1 -> take_own(found)
        :: turn == 2 -> take_of_others(found)
        :: turn == 3 ->
#ifdef MUTANT_LOOK_LAST
            /* the sources before it, which always have something, are checked first */
            take_foreign(found);
            if
            :: !found -> take_hidden(found)
            :: else -> skip
            fi
#else
            take_hidden(found)
#endif
        fi;
#ifdef MUTANT_STAY
        if
        :: !found -> turn = (turn + 1) % SOURCES
        :: else -> skip
        fi;
#else
        turn = (turn + 1) % SOURCES;
#endif
        tries++
    :: else -> break
    od;
    tries = 0
}

active proctype Decider() {
    bool found = false;
    ready[MINE] = true;
    do
    :: victim_ran -> break
    :: else ->
        atomic {
            adversary();
            now++;
            assert(now <= BOUND);
#ifdef MUTANT_TICK_LOST
            newest(found);
            if
            :: !found -> tick = (tick + 1) % FAIR
            :: else -> skip
            fi;
            if
            :: !found && tick == 0 -> rotate(found)
            :: else -> skip
            fi;
#else
            tick = (tick + 1) % FAIR;
            if
            :: tick == 0 -> rotate(found)
            :: else -> newest(found)
            fi;
#endif
            found = false
        }
    od
}
