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
 *   @mutant NO_RECHECK       the opener waits without a look after it has stored its call
 *   @mutant LEAVES_TAKEN     after that look it leaves although a member has taken the call
 *   @mutant LOOKS_TWICE      a member ends the call that it has seen, without taking it
 *   @mutant WAKES_FIRST      the member looks for the opener's call before it says that it has ended
 *
 * A worker runs tasks one after the other. The opener offers a region to the member's task that stays, or starts another one. From
 * region to region the member may move to the other worker. In join() the opener happens to poll or to wait. Its call is a completion
 * (completion.pml) on its stack, which the member ends that takes it from the gate: maybe one that is late, and of an earlier region.
 * The state has the number of the member's task, here the last region that was started.
 *
 *   offer():   return kind == waits && CAS(state, (task, waits) -> (task, runs))
 *   start():   state = (task + 1, runs)       (then a task is started)
 *   join():    while kind == runs:                           (condition_wait::wait_until, omp/core/wait.hpp)
 *                  completion call(1)
 *                  joiner = &call
 *                  if kind != runs and exchange(joiner, 0) != 0: return
 *                  call.wait()
 *   end():     state = (task, stays ? waits : away)
 *              if joiner != 0 and (call = exchange(joiner, 0)) != 0: call.end_one()
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
bool joiner;            /* the opener's call is in the gate */
bool call, outstanding; /* it is on its stack; not ended yet */
bool finished;

inline wake_opener() {
    taken = joiner;
    if
    :: taken ->
#ifndef MUTANT_LOOKS_TWICE
       atomic { taken = joiner; joiner = false }
#else
       joiner = false;
#endif
       if
       :: taken -> d_step { assert(call && outstanding); outstanding = false }
       :: else -> skip
       fi
    :: else -> skip
    fi
}

proctype worker(byte me) {
    bool stays, taken;
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
    bool offered, mine;
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
          do
          :: KIND != RUNS -> break
          :: KIND == RUNS ->
             d_step { call = true; outstanding = true }
             joiner = true;
#ifndef MUTANT_NO_RECHECK
             if
             :: KIND != RUNS ->
                atomic { mine = joiner; joiner = false }
#ifdef MUTANT_LEAVES_TAKEN
                break
#else
                if
                :: mine -> break
                :: else -> skip
                fi
#endif
             :: KIND == RUNS -> skip
             fi;
#endif
             !outstanding;
             call = false
          od;
          call = false
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
