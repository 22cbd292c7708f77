/* The queue of a team for ready tasks that are in no slot, and its placeholders (omp/core/task_queue.hpp).
 *
 *   @true   four_tasks
 *   @mutant NO_FIRST        a task is added without a slot, and without a placeholder, although there is none
 *   @mutant ENDS_ALONE      a placeholder without a slot ends although tasks are left and it is the last
 *   @mutant KEEPS_SURPLUS   a placeholder that is one too many starts only where a task of the queue may begin
 *   @mutant STAYS_IN_SLOT   a task that may not begin at home stays in its slot, where that is the last
 *   @mutant UNCOUNTS_FIRST  a placeholder that ends is no longer counted before it has left the lock
 *   @mutant NOT_COUNTED     the end of the region does not wait for placeholders
 *
 * A team of two workers, with few slots each. Which of them may begin a task is arbitrary (constraint.hpp), but one may. A task of
 * another home needs a slot here, too, while it runs.
 *
 *   add(f):    [lock: f is in the queue; no slot was free, and placeholders != 0: return; placeholders + 1; unended + 1]
 *              without a slot, wait for one; a placeholder is in the slot
 *   leave(f):  in its slot, at home, where it may not begin and no slot is free: it starts,
 *              [lock: f is in the queue; placeholders != 0: end; placeholders + 1; unended + 1], begin()
 *   begin():   [lock: found: a task that may begin here; left: the others
 *                     slot: if placeholders <= left, one that is free
 *                     ends: no slot, and (placeholders > left or placeholders > 1)
 *                     slot or ends: take what was found;  ends: placeholders - 1]
 *              ends:    unended - 1; run what was found
 *              slot:    a placeholder is in it; run what was found
 *              neither: yield; begin()
 *   take(f):   [lock: f has started at home; a task of the queue that may begin here runs instead, and f gets a slot, or its place]
 *   start:     a placeholder may start where a task of the queue may begin, or if placeholders > tasks
 *   close():   when all tasks have run, wait until unended == 0; the queue is gone
 *
 * Proved: all tasks run; the region closes; no access to a queue that is gone.
 */
#define TASKS 4
#define SLOTS 2
#define NOWHERE 0
#define SLOT 1
#define QUEUE 2
#define RUNS 3
#define DONE 4

byte where[4], home[4], admitted[4]; /* admitted: a bit for each worker */
byte free[2] = SLOTS;
byte ready[2];   /* placeholders in slots, by home */
byte yielding[2]; /* placeholders that have started, and found nothing to do; by worker */
byte holds[2];   /* the home of the slot that such a one has */
byte queued, placeholders, unended, done;
bool gone;

#define MAY_BEGIN(w, t) ((admitted[t] >> (w)) & 1)

/* found: the lowest task of the queue that w may begin, or TASKS */
inline find(w) {
    found = 0;
    do
    :: found < TASKS && !(where[found] == QUEUE && MAY_BEGIN(w, found)) -> found++
    :: else -> break
    od
}

inline enqueue(t, has_slot, counted) {
    atomic {
        assert(!gone);
        where[t] = QUEUE;
        queued++;
        counted = has_slot || placeholders == 0;
#ifdef MUTANT_NO_FIRST
        counted = has_slot;
#endif
        if
        :: counted -> placeholders++; unended++
        :: else
        fi
    }
}

inline run_task(w, t) {
    assert(where[t] == RUNS && MAY_BEGIN(w, t));
    where[t] = DONE;
    done++
}

inline free_slot(owner) { free[owner]++ }

/* By worker w, as a task that has a slot of `owner`. */
inline begin_placeholder(w, owner) {
    d_step {
        assert(!gone && placeholders > 0);
        find(w);
        left = queued - (found < TASKS -> 1 : 0);
        slot = placeholders <= left && free[w] > 0;
        ends = !slot && (placeholders > left || placeholders > 1);
#ifdef MUTANT_ENDS_ALONE
        ends = !slot;
#endif
        if
        :: slot -> free[w]--
        :: else
        fi;
        if
        :: found < TASKS && (slot || ends) -> where[found] = RUNS; queued--
        :: else -> found = TASKS
        fi;
        if
        :: ends ->
           placeholders--;
#ifdef MUTANT_UNCOUNTS_FIRST
           unended--;
#endif
        :: else
        fi
    };
    assert(!gone); /* leaves the lock */
    if
    :: ends ->
#ifndef MUTANT_UNCOUNTS_FIRST
       atomic { unended-- };
#endif
    :: slot -> atomic { assert(!gone); ready[w]++ }
    :: else
    fi;
    d_step {
        if
        :: !ends && !slot -> yielding[w]++; holds[w] = owner
        :: else ->
           if
           :: found < TASKS -> run_task(w, found)
           :: else
           fi;
           free_slot(owner)
        fi;
        found = 0; left = 0; slot = 0; ends = 0
    }
}

/* By worker w, which has started t. */
inline take_before(w) {
    d_step {
        assert(!gone);
        find(w);
        if
        :: found < TASKS ->
           where[found] = RUNS;
           if
           :: free[w] > 0 -> free[w]--; where[t] = SLOT; queued--
           :: else -> where[t] = QUEUE
           fi;
           t = found
        :: else
        fi;
        found = 0
    }
}

/* What worker `me` may do with the task t in a slot. */
#define OWN(t) (where[t] == SLOT && home[t] == me && MAY_BEGIN(me, t))
#define OTHERS(t) (where[t] == SLOT && home[t] != me && MAY_BEGIN(me, t))
#define REFUSED(t) (where[t] == SLOT && home[t] == me && !MAY_BEGIN(me, t))
#define QUEUED(t) (where[t] == QUEUE && MAY_BEGIN(me, t))
#define ANY(what) (what(0) || what(1) || what(2) || what(3))
#define FIRST(what) t = 0; do :: what(t) -> break :: else -> t++ od; where[t] = RUNS
#ifdef MUTANT_KEEPS_SURPLUS
#define MAY_START ANY(QUEUED)
#else
#define MAY_START (ANY(QUEUED) || placeholders > queued)
#endif

proctype Worker(byte me) {
    byte t, owner, found, left;
    bool slot, ends, counted;
    do
    :: atomic { ANY(OWN) -> FIRST(OWN) };
       if
       :: take_before(me)
       :: skip
       fi;
       d_step { run_task(me, t); free_slot(me); t = 0 }
    :: atomic { free[me] > 0 && ANY(OTHERS) -> free[me]--; FIRST(OTHERS) };
       d_step { run_task(me, t); free_slot(me); free_slot(1 - me); t = 0 }
#ifndef MUTANT_STAYS_IN_SLOT
    :: atomic { free[me] == 0 && ANY(REFUSED) -> FIRST(REFUSED) };
       enqueue(t, false, counted);
       if
       :: counted -> begin_placeholder(me, me)
       :: else -> free_slot(me)
       fi;
       d_step { t = 0; counted = 0 }
#endif
    :: atomic { ready[me] > 0 && MAY_START -> ready[me]-- };
       begin_placeholder(me, me)
    :: atomic { ready[1 - me] > 0 && free[me] > 0 && MAY_START -> ready[1 - me]-- };
       begin_placeholder(me, 1 - me)
    :: atomic { yielding[me] > 0 && (free[me] > 0 || placeholders > queued || placeholders > 1) ->
                yielding[me]--; owner = holds[me] };
       begin_placeholder(me, owner);
       owner = 0
    :: gone -> break
    od
}

/* A task that ends, on either worker, whose successors become ready. */
active proctype Adder() {
    byte t, w;
    bool counted;
    do
    :: t < TASKS ->
       atomic {
           if :: w = 0 :: w = 1 fi;
           if :: admitted[t] = 1 :: admitted[t] = 2 fi
       };
       if
       :: atomic { free[w] > 0 -> free[w]--; home[t] = w; where[t] = SLOT }
       :: enqueue(t, false, counted);
          if
          :: counted -> atomic { free[w] > 0 -> free[w]--; assert(!gone); ready[w]++ }
          :: else
          fi
       fi;
       d_step { t++; w = 0; counted = 0 }
    :: else -> break
    od
}

active proctype Closer() {
    done == TASKS;
#ifndef MUTANT_NOT_COUNTED
    unended == 0;
#endif
    gone = true
}

init { atomic { run Worker(0); run Worker(1) } }
