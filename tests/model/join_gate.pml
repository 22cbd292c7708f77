/* Where a member of an OpenMP team and the opener of its regions meet (omp/core/join_gate.hpp): each region runs the member once, on its
 * worker and with the data of that region, and the opener learns of the end.
 *
 *   @true   three_regions -DREGIONS=3
 *   @large  five_regions -DREGIONS=5
 *   @mutant LEAVES_BLINDLY   a member whose time is up leaves without a look at what was offered
 *   @mutant DATA_LATE        the opener writes the data of a region after its offer
 *   @mutant STARTS_TOO       the opener starts a task although its offer was taken
 *   @mutant OFFERS_ANYWHERE  the opener offers to a task on another worker than the member's
 *   @mutant SAME_TASK        a new task has the number of the one that is still here
 *   @mutant NO_RECHECK       the opener suspends without a look after it has stored its id
 *   @mutant STORES_ONCE      after a stale signal it suspends again without its id
 *   @mutant WAKES_FIRST      the member looks for the opener's id before it says that it has ended
 *
 * A worker runs tasks one after the other. The opener offers a region to the member's task that stays, or starts another one. From
 * region to region the member may move to the other worker. In join() the opener happens to poll or to suspend; a signal is a token
 * that stays until the next wait. The state has the number of the member's task, here the last region that was started.
 *
 *   offer():   return kind == waits && CAS(state, (task, waits) -> (task, runs))
 *   start():   state = (task + 1, runs)       (then a task is started)
 *   join():    while kind == runs:
 *                  joiner = id
 *                  if kind != runs: break
 *                  wait
 *              joiner = 0
 *   end():     state = (task, stays ? waits : away)
 *              if joiner != 0 and (id = exchange(joiner, 0)) != 0: signal(id)
 *   await():   until state != (task, waits), or the time is up: then if CAS(state, (task, waits) -> (task, away)): return false
 *              return state == (task, runs)
 */
#ifndef REGIONS
#define REGIONS 3
#endif
#define AWAY 0
#define RUNS 1
#define WAITS 2
#define KIND (state % 4)
#define STATE(task, kind) ((task) * 4 + (kind))

byte state = STATE(0, AWAY);
byte data;       /* of the present region: its number */
byte at;         /* the member's worker in it */
byte ran;        /* regions that the member has run */
byte started[2]; /* by worker: tasks that it shall run, each of which reads its number from the state */
bool joiner, token, finished;

inline wake_opener() {
    if
    :: joiner ->
       atomic {
           if
           :: joiner -> joiner = false; token = true
           :: else -> skip
           fi
       }
    :: !joiner -> skip
    fi
}

proctype worker(byte me) {
    bool stays;
    byte task;
    do
    :: finished && started[me] == 0 -> break
    :: atomic { started[me] > 0 -> started[me]-- }
       task = state / 4;
again:
       ran++;
       assert(ran == data && at == me);
       if
       :: stays = true
       :: stays = false
       fi;
#ifdef MUTANT_WAKES_FIRST
       wake_opener();
#endif
       if
       :: stays -> state = STATE(task, WAITS)
       :: else -> state = STATE(task, AWAY)
       fi;
#ifndef MUTANT_WAKES_FIRST
       wake_opener();
#endif
       if
       :: stays ->
          if
          :: state != STATE(task, WAITS) -> skip
          :: true -> /* the time is up */
#ifdef MUTANT_LEAVES_BLINDLY
             state = STATE(task, AWAY)
#else
             atomic {
                 if
                 :: state == STATE(task, WAITS) -> state = STATE(task, AWAY)
                 :: else -> skip
                 fi
             }
#endif
          fi;
          if
          :: state == STATE(task, RUNS) -> goto again
          :: state != STATE(task, RUNS) -> skip
          fi
       :: else -> skip
       fi
    od
}

proctype opener() {
    byte region, started_at = 2, seen;
    bool offered, stored;
    do
    :: region < REGIONS ->
       region++;
       if
       :: at = 0
       :: at = 1
       fi;
#ifndef MUTANT_DATA_LATE
       data = region;
#endif
       offered = false;
#ifndef MUTANT_OFFERS_ANYWHERE
       if
       :: started_at == at -> skip
       :: else -> goto start
       fi;
#endif
       if
       :: KIND == WAITS ->
          seen = state;
          atomic {
              if
              :: state == seen && seen % 4 == WAITS -> state = seen - WAITS + RUNS; offered = true
              :: else -> skip
              fi
          }
       :: KIND != WAITS -> skip
       fi;
#ifdef MUTANT_DATA_LATE
       data = region;
#endif
#ifdef MUTANT_STARTS_TOO
       offered = false;
#endif
start:
       if
       :: !offered ->
          started_at = at;
#ifdef MUTANT_SAME_TASK
          state = STATE(state / 4, RUNS);
#else
          state = STATE(state / 4 + 1, RUNS);
#endif
          started[at]++
       :: else -> skip
       fi;
       if
       :: KIND != RUNS /* it polls */
       :: true ->
          stored = false;
          do
          :: KIND != RUNS -> break
          :: KIND == RUNS ->
#ifdef MUTANT_STORES_ONCE
             if
             :: !stored -> joiner = true
             :: else -> skip
             fi;
#else
             joiner = true;
#endif
             stored = true;
#ifndef MUTANT_NO_RECHECK
             if
             :: KIND != RUNS -> break
             :: KIND == RUNS -> skip
             fi;
#endif
             token -> token = false /* wait */
          od;
          joiner = false
       fi;
       assert(ran == region)
    :: else -> break
    od;
    finished = true
}

init {
    atomic {
        run worker(0);
        run worker(1);
        run opener()
    }
}
