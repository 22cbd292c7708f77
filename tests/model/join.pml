/* Joining against completion, for tasks and foreign threads; join_all; detach.
 *
 *   @true   task
 *   @true   foreign -DFOREIGN
 *   @mutant TOUCH_AFTER_SUB             the completer reads the counter's waiter after its fetch_sub
 *   @mutant DONE_NOT_EXCHANGE           the completer loads the join word, then stores DONE
 *   @mutant RESULT_LATE                 DONE before the result is stored
 *   @mutant WAIT_ONCE                   wait() without a loop: a spurious return is taken for completion
 *   @mutant DETACH_NOT_EXCHANGE         detach loads the join word, then stores DETACHED
 *   @mutant FORGET_FINISHED             join_all does not take off the children that were DONE already
 *   @mutant BLIND_REGISTER              the joiner stores itself into the join word without comparing
 *   @mutant FOREIGN_SEES_DONE -DFOREIGN the foreign joiner leaves when it sees DONE, not when it is posted
 *   @mutant FOREIGN_SEES_ZERO -DFOREIGN ... when it sees the counter at zero
 *   @mutant POST_TOUCHES -DFOREIGN      post() touches the parker again after it has set it
 *
 * Three children. Their parent (a task, or a foreign thread) joins or detaches the first, then joins the other two
 * together. Children are run by other workers, or by the parent itself, inline, if it is a task and claims them
 * first. The parent is also signaled at random.
 *
 * The protocol, as the code has it (task::join_: 0, DONE, DETACHED, or the waiter: a task, a counter, a parker):
 *
 *   complete(c), run by c's worker once it has left c's stack (the joiner may free the slot, and with it the stack,
 *   right after the exchange):
 *     the result has been stored
 *     prev = c.join.exchange(DONE, acq_rel); from here on c is not touched, except if prev is DETACHED
 *     task:     signal(prev)                          a bit; neither descriptor nor frame of the joiner is touched
 *     counter:  w = rec.waiter; if rec.remaining.fetch_sub(1, acq_rel) == 1: signal(w) or w.post()
 *     parker:   parker.post()                         one store, then futex wake by address alone
 *     DETACHED: free c's slot
 *   join(c):    claim it, run inline: result is there, the join word is not used; free its slot
 *               else CAS(c.join, 0 -> me): while c.join.load(acquire) != DONE: wait()
 *                    CAS failed: it is DONE; take the result, free its slot
 *     foreign:  CAS(c.join, 0 -> parker): parker.wait() for the post, not for DONE: post still has to touch the parker
 *   join_all:   rec = {waiter, remaining = n} on the joiner's stack; each child: inline, or CAS(0 -> rec), or it is DONE;
 *               finished = number of children that will not count themselves
 *               if finished and rec.remaining.fetch_sub(finished) == finished: none is left to wait for
 *               else task: while rec.remaining.load(acquire) != 0: wait();  foreign: parker.wait()
 *   detach(c):  prev = c.join.exchange(DETACHED); DONE: free its slot here
 *
 * Proved: a slot is freed exactly once, and after the result was stored; no wake-up is lost; no thread accesses a record or
 * a parker that its owner may have left; spurious and late signals do no harm.
 */
#define NONE     0
#define DONE     1
#define DETACHED 2
#define TASK     3
#define COUNTER  4
#define PARKER   5

byte join_[3];
bit  result[3];
bit  claimed[3];
bit  freed[3];
bit  signaled = 0;         /* the parent's runnable bit or token */
byte remaining = 0;        /* the counter record, on the parent's stack */
bit  record_alive = 0;
bit  posted = 0;           /* the foreign thread's parker, on its stack */
bit  parker_alive = 0;
byte left = 5;

#ifdef FOREIGN
#define ME PARKER
#else
#define ME TASK
#endif

#define free_slot(c) atomic { assert(result[c] && !freed[c]); freed[c] = 1 }

inline signal_parent() { signaled = 1 }

inline post() {
    atomic { assert(parker_alive); posted = 1 };
#ifdef MUTANT_POST_TOUCHES
    assert(parker_alive)
#endif
}

proctype Child(byte c) {
    byte prev, waiter;
    if
    :: atomic { !claimed[c] -> claimed[c] = 1 };
#ifndef MUTANT_RESULT_LATE
        result[c] = 1;
#endif
#ifdef MUTANT_DONE_NOT_EXCHANGE
        prev = join_[c]; join_[c] = DONE;
#else
        atomic { prev = join_[c]; join_[c] = DONE };
#endif
#ifdef MUTANT_RESULT_LATE
        result[c] = 1;
#endif
        if
        :: prev == NONE -> skip
        :: prev == TASK -> signal_parent()
        :: prev == COUNTER ->
#ifndef MUTANT_TOUCH_AFTER_SUB
            atomic { assert(record_alive); waiter = ME };
#endif
            atomic { assert(record_alive); remaining--; prev = remaining };
            if
            :: prev == 0 ->
#ifdef MUTANT_TOUCH_AFTER_SUB
                atomic { assert(record_alive); waiter = ME };
#endif
                if :: waiter == TASK -> signal_parent() :: else -> post() fi
            :: else
            fi
        :: prev == PARKER -> post()
        :: prev == DETACHED -> free_slot(c)
        fi
    :: claimed[c]                         /* run inline by the parent */
    fi;
    left--
}

#define wait_() atomic { signaled -> signaled = 0 }

/* CAS(join, 0 -> waiter) */
inline register(c, waiter) {
#ifdef MUTANT_BLIND_REGISTER
    join_[c] = waiter; ok = 1
#else
    atomic { if :: join_[c] == NONE -> join_[c] = waiter; ok = 1 :: else -> ok = 0 fi }
#endif
}

/* ok: claimed, and run to its end on the parent's stack */
inline run_inline(c) {
#ifdef FOREIGN
    ok = 0                     /* only tasks run tasks */
#else
    atomic { if :: !claimed[c] -> claimed[c] = 1; ok = 1 :: true -> ok = 0 fi };
    if :: ok -> result[c] = 1 :: else fi
#endif
}

inline join_one(c) {
    run_inline(c);
    if
    :: ok
    :: !ok ->
#ifdef FOREIGN
        atomic { posted = 0; parker_alive = 1 };
        register(c, PARKER);
#ifdef MUTANT_FOREIGN_SEES_DONE
        if :: ok -> join_[c] == DONE :: else fi;
#else
        if :: ok -> posted :: else fi;
#endif
        parker_alive = 0
#else
        register(c, TASK);
        if
        :: ok ->
#ifdef MUTANT_WAIT_ONCE
            if :: join_[c] != DONE -> wait_() :: else fi
#else
            do :: join_[c] != DONE -> wait_() :: join_[c] == DONE -> break od
#endif
        :: else
        fi
#endif
    fi;
    free_slot(c)
}

inline detach(c) {
#ifdef MUTANT_DETACH_NOT_EXCHANGE
    prev = join_[c]; join_[c] = DETACHED;
#else
    atomic { prev = join_[c]; join_[c] = DETACHED };
#endif
    if :: prev == DONE -> free_slot(c) :: else fi
}

inline join_both(a, b) {
    atomic { record_alive = 1; remaining = 2; finished = 0; posted = 0; parker_alive = 1 };
    run_inline(a);
    if :: !ok -> register(a, COUNTER); finished = finished + !ok :: else -> finished++ fi;
    run_inline(b);
    if :: !ok -> register(b, COUNTER); finished = finished + !ok :: else -> finished++ fi;
    ok = 0;
#ifndef MUTANT_FORGET_FINISHED
    if
    :: finished -> atomic { ok = (remaining == finished); remaining = remaining - finished }
    :: else
    fi;
#endif
    if
    :: ok
    :: !ok ->
#ifdef FOREIGN
#ifdef MUTANT_FOREIGN_SEES_ZERO
        remaining == 0
#else
        posted
#endif
#else
        do :: remaining != 0 -> wait_() :: remaining == 0 -> break od
#endif
    fi;
    atomic { record_alive = 0; parker_alive = 0 };
    free_slot(a);
    free_slot(b)
}

active proctype Parent() {
    byte prev, finished; bit ok;
    if
    :: join_one(0)
    :: detach(0)
    fi;
    join_both(1, 2);
    left--
}

active proctype Spurious() { signal_parent(); signal_parent(); left-- }

active proctype Check() {
    left == 0;
    assert(freed[0] && freed[1] && freed[2])
}

init { atomic { run Child(0); run Child(1); run Child(2) } }
