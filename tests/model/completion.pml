/* The end of tasks and the waits for it: join, join_all, wait_any, detach (fult/kernel/completion.cpp, joins.cpp).
 *
 *   @true   task
 *   @true   thread -DTHREAD
 *   @true   any -DANY
 *   @true   any_thread -DANY -DTHREAD
 *   @mutant TWO_STEPS -DANY             the last one subtracts first and then stores the zero
 *   @mutant TOUCH_AFTER                 the last one reads the completion after the word is zero
 *   @mutant WAITER_LATE                 the waiter stores itself after it has set the waiting bit
 *   @mutant SIGNAL_FIRST                the last one signals before the word is zero
 *   @mutant WAIT_ONCE                   wait() without a loop: a spurious return is taken for the end
 *   @mutant THREAD_SEES_ZERO -DTHREAD   a thread leaves when it sees the word without the bit, not when it is posted
 *   @mutant POST_TOUCHES -DTHREAD       post() touches the parker again after it has set it
 *   @mutant DONE_NOT_EXCHANGE           the completer loads the join word, then stores DONE
 *   @mutant RESULT_LATE                 DONE before the result is stored
 *   @mutant DETACH_NOT_EXCHANGE         detach loads the join word, then stores DETACHED
 *   @mutant FORGET_ENDED                join_all does not count the children that were DONE already
 *   @mutant BLIND_REGISTER              the joiner stores itself into the join word without comparing
 *   @mutant LEAVE_EARLY -DANY           the waiter leaves though some that have ended still use its completion
 *   @mutant STORE_NONE -DANY            the waiter stores NONE into the join words without comparing
 *   @mutant FORGET_STOP -DANY           the waiter does not count the request to stop, which ends one as well
 *
 * Three children. Their parent, a task or a foreign thread, joins or detaches the first, then joins the other two
 * together. Children are run by other workers, or by the parent itself, inline, if it is a task and claims them first.
 * ANY: it waits for one of the last two first, and may be asked to stop that; then it joins both one by one. The parent
 * is also signaled at random.
 *
 * The protocol, as the code has it. A completion is on the waiter's stack, or in a group (group.pml).
 * word: twice what is outstanding; lowest bit: one waits.
 *
 *   end_one    w = waiter; if word is 3, the last one and the waiting bit: compare-and-swap it to 0; from here on the
 *              completion is not touched; signal(w), or w.post(). Else compare-and-swap it to word - 2
 *   wait(more) waiter = me, a task's id or a parker on the stack
 *              open = word + 2 * more; compare-and-swap word to open + 1 if open > 0, else to open
 *              if open > 0: task: while word & 1: wait();   thread: wait for the post, as post() touches the parker
 *
 * task::join: NONE, DONE, DETACHED, a task, or a completion
 *
 *   complete(c), run by c's worker once it has left c's stack (the joiner may free the slot, and with it the stack,
 *   right after the exchange):
 *     the result has been stored
 *     prev = c.join.exchange(DONE, acq_rel); from here on c is not touched, except if prev is DETACHED
 *     task:       signal(prev)                       a bit; neither descriptor nor frame of the joiner is touched
 *     completion: end_one
 *     DETACHED:   free c's slot
 *   join(c)    claim it, run inline: result is there, the join word is not used; free its slot
 *              else CAS(c.join, NONE -> me): while c.join.load(acquire) != DONE: wait()
 *                   CAS failed: it is DONE; take the result, free its slot
 *              a thread: a completion of one in place of itself
 *   join_all   a completion of those that cannot be run inline: CAS(c.join, NONE -> completion); CAS failed: it is DONE:
 *              one fewer; wait(-fewer)
 *   wait_any   a completion of one; likewise, but where one is DONE already: none of the rest is asked, nor waited for;
 *              a request to stop ends one; wait(0)
 *              each one asked: CAS(c.join, completion -> NONE); it fails where the task is DONE: that one ends one
 *              no request to stop is running any more; wait(number of ends - 1)
 *   detach(c)  prev = c.join.exchange(DETACHED); DONE: free its slot here
 *
 * Proved: a slot is freed exactly once, and after the result was stored; no wake-up is lost; no thread accesses a
 * completion or a parker that its owner may have left; what wait_any returns has ended, and the tasks can be joined
 * afterwards; spurious and late signals do no harm.
 */
#define NONE       0
#define DONE       1
#define DETACHED   2
#define TASK       3
#define COMPLETION 4

byte  join_[3];
bit   result[3];
bit   claimed[3];
bit   freed[3];
bit   signaled = 0;        /* the parent's runnable bit or token */
short word = 0;            /* of the completion */
bit   waiter = 0;          /* what it says is valid */
bit   alive = 0;           /* the completion */
bit   posted = 0;          /* the thread's parker, on its stack */
bit   parker_alive = 0;
bit   stop = 0, stop_over = 0;
byte  left = 5;

#define free_slot(c) atomic { assert(result[c] && !freed[c]); freed[c] = 1 }
#define wait_() atomic { signaled -> signaled = 0 }

inline wake() {
#ifdef THREAD
    atomic { assert(parker_alive); posted = 1 };
#ifdef MUTANT_POST_TOUCHES
    assert(parker_alive)
#endif
#else
    signaled = 1
#endif
}

inline end_one() {
#ifdef MUTANT_TWO_STEPS
    atomic { assert(alive); word = word - 2; last = (word == 1) };
    if :: last -> atomic { assert(alive); word = 0 } :: else fi;
#else
#ifdef MUTANT_SIGNAL_FIRST
    atomic { assert(alive); last = (word == 3); if :: last :: else -> word = word - 2 fi };
    if :: last -> wake(); atomic { assert(alive); word = word - 3 } :: else fi;
    last = 0;
#else
    atomic { assert(alive); last = (word == 3);
        if :: last -> assert(waiter); word = 0 :: else -> word = word - 2 fi };
#endif
#endif
    if
    :: last ->
#ifdef MUTANT_TOUCH_AFTER
        assert(alive);
#endif
        wake()
    :: else
    fi
}

inline wait_for(more) {
#ifdef THREAD
    atomic { posted = 0; parker_alive = 1 };
#endif
#ifndef MUTANT_WAITER_LATE
    waiter = 1;
#endif
    atomic { open = word + 2 * (more); word = (open > 0 -> open + 1 : open) };
#ifdef MUTANT_WAITER_LATE
    waiter = 1;
#endif
    if
    :: open > 0 ->
#ifdef THREAD
#ifdef MUTANT_THREAD_SEES_ZERO
        (word & 1) == 0
#else
        posted
#endif
#else
#ifdef MUTANT_WAIT_ONCE
        wait_()
#else
        do :: (word & 1) != 0 -> wait_() :: (word & 1) == 0 -> break od
#endif
#endif
    :: else
    fi;
    atomic { waiter = 0; parker_alive = 0; open = 0 }
}

proctype Child(byte c) {
    byte prev; bit last;
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
        :: prev == TASK -> signaled = 1
        :: prev == COMPLETION -> end_one()
        :: prev == DETACHED -> free_slot(c)
        fi
    :: claimed[c]                         /* run inline by the parent */
    fi;
    left--
}

/* ok: CAS(join, NONE -> what) */
inline register(c, what) {
#ifdef MUTANT_BLIND_REGISTER
    join_[c] = what; ok = 1
#else
    atomic { if :: join_[c] == NONE -> join_[c] = what; ok = 1 :: else -> assert(join_[c] == DONE); ok = 0 fi }
#endif
}

/* ok: claimed, and run to its end on the parent's stack */
inline run_inline(c) {
#ifdef THREAD
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
    :: !ok && join_[c] == DONE
    :: !ok ->
#ifdef THREAD
        atomic { alive = 1; word = 2 };
        register(c, COMPLETION);
        if :: ok -> wait_for(0) :: else -> wait_for(-1) fi;
        alive = 0
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

#ifdef ANY
inline ask(c) {
    if
    :: first == 3 ->
        register(c, COMPLETION);
        if :: ok -> asked[c] = 1 :: else -> first = c fi
    :: else
    fi
}

inline withdraw(c) {
    if
    :: asked[c] ->
#ifdef MUTANT_STORE_NONE
        if :: join_[c] == COMPLETION -> join_[c] = NONE :: else -> ends++ fi
#else
        atomic { if :: join_[c] == COMPLETION -> join_[c] = NONE :: else -> ends++ fi }
#endif
    :: else
    fi
}

inline await_any(a, b) {
    atomic { alive = 1; word = 2; stop = 1 };      /* from here on a request may come */
    ask(a);
    ask(b);
    if :: first == 3 -> wait_for(0) :: else fi;
    withdraw(a);
    withdraw(b);
    /* the destructor of the callback waits until it has run, or sees that it never will */
    atomic { if :: stop -> stop = 0 :: else fi };
    if :: stop_over :: !stop_over && !stopping fi;
#ifndef MUTANT_FORGET_STOP
    ends = ends + stop_over;
#endif
#ifndef MUTANT_LEAVE_EARLY
    wait_for(ends - 1);
    assert(word == 0);
#endif
    alive = 0;
    if
    :: first == 3 && join_[a] == DONE -> first = a
    :: first == 3 && join_[a] != DONE && join_[b] == DONE -> first = b
    :: first == 3 && join_[a] != DONE && join_[b] != DONE -> assert(stop_over)
    :: first != 3 -> assert(join_[first] == DONE)
    fi
}

bit stopping = 0;
active proctype Stopper() {
    bit last;
    if
    :: atomic { stop -> stop = 0; stopping = 1 };
        end_one();
        atomic { stop_over = 1; stopping = 0 }
    :: true
    fi
}
#else
inline join_both(a, b) {
    atomic { alive = 1; word = 4; ended = 0 };
    run_inline(a);
    if :: !ok -> register(a, COMPLETION); ended = ended + !ok :: else -> ended++ fi;
    run_inline(b);
    if :: !ok -> register(b, COMPLETION); ended = ended + !ok :: else -> ended++ fi;
#ifdef MUTANT_FORGET_ENDED
    wait_for(0);
#else
    wait_for(-ended);
#endif
    alive = 0;
    free_slot(a);
    free_slot(b)
}
#endif

active proctype Parent() {
    byte prev; bit ok; short open;
#ifdef ANY
    byte first = 3, ends; bit asked[3];
    await_any(1, 2);
    join_one(1);
    join_one(2);
    detach(0);
#else
    byte ended;
    if
    :: join_one(0)
    :: detach(0)
    fi;
    join_both(1, 2);
#endif
    left--
}

active proctype Spurious() { signaled = 1; signaled = 1; left-- }

active proctype Check() {
    left == 0;
    assert(freed[0] && freed[1] && freed[2])
}

init { atomic { run Child(0); run Child(1); run Child(2) } }
