/* The end of a runtime, against foreign threads that spawn, join and wake its tasks.
 *
 *   @true   end
 *   @mutant COUNT_FIRST     the end counts the living tasks before it refuses further ones
 *   @mutant CHECK_FIRST     a spawn looks whether it is refused before it takes a slot, not after that
 *   @mutant KEEP_SLOT       a spawn that is refused keeps its slot
 *   @mutant NO_VISIT_SPAWN  a thread takes a slot without a visit
 *   @mutant NO_VISIT_READY  ... makes its task ready without one
 *   @mutant NO_VISIT_JOIN   ... frees the slot of the task that it has joined without one
 *   @mutant GRANT_FIRST     ... begins the visit after it has ended the wait of a task
 *   @mutant VISITORS_FIRST  the end waits for the visits before it hides the team
 *   @mutant READ_FIRST      a visit reads the team before it counts itself
 *
 * A visit (fult/scheduler/team.hpp) keeps the team, and with it the memory of the homes, as long as it lives:
 *
 *   visit:     visitors + 1; team            [null: no runtime is running]
 *   left:      visitors - 1
 *   spawn:     visit, refused without a team; take a slot; closed: free the slot, refused; left
 *              [the slot counts as a living task from here on]
 *              visit; ready bit; wake a worker; left
 *   join:      wait for the end of the task; visit; free the slot, then its hints; left
 *   grant:     visit; state = granted; ready bit; wake a worker; left
 *   end:       closed; wait until no task is living; no team; workers stop; wait until there is no visitor; unmap
 *
 * A task that is not joined frees its slot itself, while the thread that spawned it may still be waking a worker. A task
 * that is granted may see that before its bit is set, and end. Only a thread that has a living task visits without a question:
 * the task keeps the runtime from ending.
 *
 * Proved: no access to memory that is gone; a spawn is refused, or its task runs and is joined; the end comes.
 */

bool team = 1, closed, mapped = 1, stopped, granted, ready[2], done[2], detached[2];
byte visitors, taken = 1;                       /* the task that waits */

inline visit() { atomic { visitors++ } }
inline leave() { atomic { assert(visitors > 0); visitors-- } }

proctype Spawner(byte me) {
    bool here;
    if :: detached[me] = 1 :: skip fi;
#ifdef MUTANT_READ_FIRST
    here = team;
#endif
#ifndef MUTANT_NO_VISIT_SPAWN
    visit();
#endif
#ifndef MUTANT_READ_FIRST
    here = team;
#endif
    if
    :: !here -> goto refused
    :: else
    fi;
#ifdef MUTANT_CHECK_FIRST
    if
    :: closed -> goto refused
    :: else
    fi;
#endif
    atomic { assert(mapped); taken++ };
#ifndef MUTANT_CHECK_FIRST
    if
    :: closed ->
#ifndef MUTANT_KEEP_SLOT
        atomic { assert(mapped); taken-- };
#endif
        goto refused
    :: else
    fi;
#endif
#ifndef MUTANT_NO_VISIT_SPAWN
    leave();
#endif
#ifndef MUTANT_NO_VISIT_READY
    visit();
#endif
    assert(mapped); ready[me] = 1;
    assert(mapped);                             /* wakes a worker */
#ifndef MUTANT_NO_VISIT_READY
    leave();
#endif
    if
    :: detached[me] -> goto over
    :: else
    fi;
    done[me];
#ifndef MUTANT_NO_VISIT_JOIN
    visit();
#endif
    atomic { assert(mapped); taken-- };
    assert(mapped);                             /* the hints */
#ifndef MUTANT_NO_VISIT_JOIN
    leave();
#endif
    goto over;
refused:
#ifndef MUTANT_NO_VISIT_SPAWN
    leave();
#endif
over:
    skip
}

active proctype Granter() {
#ifndef MUTANT_GRANT_FIRST
    visit();
#endif
    granted = 1;
#ifdef MUTANT_GRANT_FIRST
    visit();
#endif
    assert(mapped);                             /* the bit, and a worker */
    leave()
}

active proctype Worker() {
    bool waits = 1;
    do
    :: waits && granted -> waits = 0; atomic { assert(mapped); taken-- }
    :: ready[0] -> ready[0] = 0; done[0] = 1; if :: detached[0] -> atomic { assert(mapped); taken-- } :: else fi
    :: ready[1] -> ready[1] = 0; done[1] = 1; if :: detached[1] -> atomic { assert(mapped); taken-- } :: else fi
    :: stopped -> break
    od;
    assert(!waits && !ready[0] && !ready[1])
}

active proctype End() {
#ifdef MUTANT_COUNT_FIRST
    taken == 0;
    closed = 1;
#else
    closed = 1;
    taken == 0;
#endif
#ifdef MUTANT_VISITORS_FIRST
    visitors == 0;
    team = 0;
    stopped = 1;
#else
    team = 0;
    stopped = 1;
    visitors == 0;
#endif
    mapped = 0
}

init { atomic { run Spawner(0); run Spawner(1) } }
