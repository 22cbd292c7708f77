/* A member of an OpenMP team that has ended waits a moment for the next region: each frame runs once (omp/core/dock.hpp).
 *
 *   @large  one_opener -DOPENERS=1
 *   @large  two_openers -DOPENERS=2
 *   @true   three_openers -DOPENERS=3
 *   @mutant LEAVES_BLINDLY -DOPENERS=1   a docked task whose time is up leaves without a look at what was offered
 *   @mutant TAKES_ANY -DOPENERS=2        an opener overwrites what another one has offered
 *   @mutant READY_EARLY -DOPENERS=2      a docked task takes offers again before it has run the frame
 *
 * A worker runs tasks one after the other. A task that a region has started runs its frame, and then docks: it waits for an offer, or
 * its time is up. An opener offers its frame to the docked task, or starts a task of the worker. Each opens two regions, and waits
 * for the end of its frame before the next one.
 *
 *   await():   state = waits
 *              until state != waits, or the time is up: then if CAS(state, waits -> none): end
 *              return state, which stays until the task docks again
 *   offer(f):  return state == waits && CAS(state, waits -> f)
 */
#ifndef OPENERS
#define OPENERS 1
#endif
#define NONE 0
#define WAITS 255 /* other values: the opener whose frame is offered, plus 1 */

byte state = NONE;
byte spawned[OPENERS]; /* tasks that the worker shall run */
byte runs[OPENERS];    /* of the frame of the opener's present region */
byte finished;

byte waiting; /* the sum of spawned */

inline run_frame(which) {
    atomic {
        runs[which]++;
        assert(runs[which] == 1)
    }
}

proctype worker() {
    byte frame, i;
    do
    :: finished == OPENERS -> break
    :: atomic {
        waiting > 0 ->
        i = 0;
        do
        :: spawned[i] == 0 -> i++
        :: else -> break
        od;
        waiting--;
        spawned[i]--;
        frame = i
       };
       run_frame(frame);
docked:
       state = WAITS;
       do
       :: state != WAITS -> break
       :: true -> /* the time is up */
#ifdef MUTANT_LEAVES_BLINDLY
          state = NONE; goto again
#else
          atomic {
              if
              :: state == WAITS -> state = NONE; goto again
              :: else -> break
              fi
          }
#endif
       od;
       atomic {
           assert(state != NONE && state != WAITS);
           frame = state - 1;
#ifdef MUTANT_READY_EARLY
           state = WAITS
#endif
       }
       run_frame(frame);
       goto docked;
again:
       skip
    od
}

proctype opener(byte me) {
    byte region;
    bool offered;
    do
    :: region < 2 ->
       region++;
       runs[me] = 0;
       offered = false;
       if
       :: state == WAITS ->
#ifndef MUTANT_TAKES_ANY
          atomic {
              if
              :: state == WAITS -> state = me + 1; offered = true
              :: else -> skip
              fi
          }
#else
          state = me + 1; offered = true
#endif
       :: state != WAITS -> skip
       fi
       if
       :: !offered -> atomic { spawned[me]++; waiting++ }
       :: else -> skip
       fi
       (runs[me] == 1) /* the end of the region */
    :: else -> break
    od
    finished++
}

init {
    byte i;
    atomic {
        run worker();
        for (i : 0 .. OPENERS - 1) {
            run opener(i)
        }
    }
}
