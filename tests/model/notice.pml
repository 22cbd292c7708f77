/* What ends the waits of the owner of a counter of OpenMP tasks, which waits for their ends (omp/core/child_counter.cpp), where tasks may become
 * ready late (omp/core/late_tasks.cpp): it runs those, and leaves when the last has ended.
 *
 *   @true   two_late -DLATE=2
 *   @large  four_late -DLATE=4
 *   @mutant LEAVES_EARLY     the owner leaves when it sees the last end, which has not ended its call yet
 *   @mutant BOTH_CALL        the last end ends the call although a late task has
 *   @mutant ADDS_LATE        the owner leaves late_task before it has made its call ready again
 *   @mutant NO_LIST          the owner waits while the list of late tasks does not know it
 *   @mutant CALLS_BEFORE     a late task is announced before it is in the list
 *
 * The owner's call is a completion (completion.pml) on its stack, with one end outstanding. The thread that leaves `nothing` ends it, and the
 * owner waits for that end whatever it has seen in the meantime. Each late task is added by a thread that then ends; another thread
 * ends the last task, before or after that: tasks for which the owner does not wait may become ready late as well.
 *
 *   owner:     repeat
 *                  if not all_ended and take(): run it
 *                  else: call.wait()
 *                        call.add_one()
 *                        if not CAS(notified, late_task -> nothing): return     (it is last_end)
 *   take():    lock; task = pop(ready); waiting = no task; unlock
 *   add():     lock; push(ready); if waiting and CAS(notified, nothing -> late_task): call.end_one(); unlock
 *   notify():  if exchange(notified, last_end) == nothing: call.end_one()
 *   at last, the owner: lock; waiting = false; unlock
 */
#ifndef LATE
#define LATE 2
#endif
#define NOTHING 0
#define LATE_TASK 1
#define LAST_END 2

byte notified = NOTHING, ready;
bool locked, waiting;
bool alive = true; /* the owner's call */
short outstanding = 1;
bool needs_late;   /* the owner waits for the late tasks too, so the last end comes after them */
byte run_late, added;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline end_one() { d_step { assert(alive && outstanding == 1); outstanding-- } }

proctype adder() {
    bool first;
    lock();
#ifdef MUTANT_CALLS_BEFORE
    unlock();
#else
    ready++;
#endif
    added++;
    if
    :: waiting ->
       atomic { first = notified == NOTHING; if :: first -> notified = LATE_TASK :: else -> skip fi };
       if
       :: first -> end_one()
       :: else -> skip
       fi
    :: else -> skip
    fi;
#ifdef MUTANT_CALLS_BEFORE
    ready++
#else
    unlock()
#endif
}

proctype ender() {
    byte before;
    !needs_late || run_late == LATE;
    atomic { before = notified; notified = LAST_END };
    assert(before != LAST_END);
#ifndef MUTANT_BOTH_CALL
    if
    :: before == NOTHING -> end_one()
    :: else -> skip
    fi
#else
    end_one()
#endif
}

proctype owner() {
    bool took, last;
    do
    :: last -> break
    :: else ->
       took = false;
       if
       :: notified == LAST_END ->
#ifdef MUTANT_LEAVES_EARLY
          break
#else
          skip
#endif
       :: else ->
          lock();
          took = ready != 0;
          if
          :: took -> ready--
          :: else -> skip
          fi;
#ifndef MUTANT_NO_LIST
          waiting = !took;
#endif
          unlock()
       fi;
       if
       :: took -> run_late++
       :: else ->
          outstanding == 0;
#ifndef MUTANT_ADDS_LATE
          outstanding++;
#endif
          atomic { last = notified != LATE_TASK; if :: last -> skip :: else -> notified = NOTHING fi };
#ifdef MUTANT_ADDS_LATE
          outstanding++
#endif
       fi
    od;
    lock();
    waiting = false;
    unlock();
    assert(!needs_late || run_late == LATE);
    alive = false
}

init {
    byte i;
    atomic {
        if
        :: needs_late = true
        :: needs_late = false
        fi;
        run owner();
        run ender();
        do
        :: i < LATE -> run adder(); i++
        :: else -> break
        od
    }
}
