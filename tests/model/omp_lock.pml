/* OpenMP's locks (omp/core/locks.cpp): one thread at a time has the lock, each that waits gets it, and no word is accessed after the lock may
 * be gone.
 *
 *   @true   two_threads -DTHREADS=2 -DROUNDS=3
 *   @true   three_threads -DTHREADS=3 -DROUNDS=2
 *   @large  few_passes -DTHREADS=3 -DROUNDS=3
 *   @deep   four_threads -DTHREADS=4 -DROUNDS=2
 *   @mutant NO_LOOK          a waiter queues without a look whether the lock is free meanwhile
 *   @mutant FORGETS          a waiter that was woken takes the lock, and does not say so
 *   @mutant FORGETS_AGAIN    a waiter that was woken queues again, and does not say so
 *   @mutant CLEARS_LATE      the mark of waiters is cleared after the last one was woken: the lock may be gone
 *   @mutant NEVER_CLEARS     a thread that wakes the last waiter leaves the mark of waiters, and wakes none later
 *   @mutant WAKES_BLINDLY    the mark of waiters is cleared without a look for others
 *
 * The word has three parts: held, queued and passes, the releases since a waiter was woken. Each waiter has a place in the table of its own.
 * The queue is a set here: any waiter is woken. The last thread that is through frees the lock.
 *
 *   take(woken): CAS loop: if held: return false; held = true; if woken: passes = 0; return true
 *   set():       until take(woken): woken = wait_for(woken)
 *   wait_for():  with the table's lock:
 *                  CAS loop: if !held: return woken; if woken: passes = 0; queued = true
 *                  enqueue
 *                await the wake-up; return true
 *   unset():     CAS loop: held = false; wakes = queued and (passes == 0 or passes == most)
 *                  if wakes: passes = 1; else if queued: passes++; else passes = 0
 *                if wakes, with the table's lock: dequeue one, if there is one; if none is left: queued = false
 *                then wake that one
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define MOST 2

bool held, queued;
byte passes;
bool table, gone;
bool waits[THREADS], woken[THREADS];
byte inside, through;

inline access() { assert(!gone) }
inline lock_table() { atomic { !table -> table = true } }

proctype thread(byte me) {
    byte round, i, one;
    bool was_woken, wakes, got, others;
    do
    :: round == ROUNDS -> break
    :: round < ROUNDS ->
       was_woken = false;
       got = false;
       do
       :: got -> break
       :: !got ->
          atomic { /* take */
              access();
              if
              :: !held ->
                 held = true;
                 got = true;
#ifndef MUTANT_FORGETS
                 if
                 :: was_woken -> passes = 0
                 :: else -> skip
                 fi
#endif
              :: held -> skip
              fi
          }
          if
          :: got -> skip
          :: !got ->
             lock_table();
             atomic {
                 access();
                 if
#ifndef MUTANT_NO_LOOK
                 :: !held -> i = 0
#endif
                 :: else ->
                    if
#ifndef MUTANT_FORGETS_AGAIN
                    :: was_woken -> passes = 0
#endif
                    :: else -> skip
                    fi;
                    queued = true;
                    i = 1
                 fi
             }
             if
             :: i == 1 ->
                d_step { waits[me] = true; woken[me] = false; table = false }
                woken[me];
                was_woken = true
             :: else -> table = false
             fi;
             i = 0
          fi
       od;
       inside++;
       assert(inside == 1);
       inside--;
       if
       :: round + 1 == ROUNDS -> through++
       :: else -> skip
       fi;
       atomic { /* unset */
           access();
           assert(held);
           held = false;
           wakes = queued && (passes == 0 || passes == MOST);
           if
           :: wakes -> passes = 1
           :: !wakes && queued -> passes++
           :: else -> passes = 0
           fi;
           if
           :: through == THREADS -> gone = true /* all have had it as often as they will */
           :: else -> skip
           fi
       }
       if
       :: wakes ->
          lock_table();
          d_step {
              one = THREADS;
              others = false;
              i = 0;
              do
              :: i == THREADS -> break
              :: i < THREADS ->
                 if
                 :: waits[i] && one == THREADS -> one = i
                 :: waits[i] && one != THREADS -> others = true
                 :: else -> skip
                 fi;
                 i++
              od;
              i = 0;
              if
              :: one != THREADS -> waits[one] = false
              :: else -> skip
              fi
          }
#ifdef MUTANT_CLEARS_LATE
          if
          :: one != THREADS -> woken[one] = true
          :: else -> skip
          fi;
#endif
          if
#ifdef MUTANT_WAKES_BLINDLY
          :: one != THREADS -> access(); queued = false
#endif
#ifndef MUTANT_NEVER_CLEARS
          :: one != THREADS && !others -> access(); queued = false
#endif
          :: else -> skip
          fi;
          table = false;
#ifndef MUTANT_CLEARS_LATE
          if
          :: one != THREADS -> woken[one] = true
          :: else -> skip
          fi;
#endif
          one = 0;
          others = false;
          wakes = false
       :: else -> skip
       fi;
       round++
    od
}

init {
    byte i;
    atomic {
        do
        :: i < THREADS -> run thread(i); i++
        :: else -> break
        od
    }
}
