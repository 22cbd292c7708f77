/* Waiting for the first of several tasks, and leaving the others as they were (fult/scheduler/await_any.cpp).
 *
 *   @true   any
 *   @mutant LEAVE_EARLY                 the waiter leaves though some that have ended still use its record
 *   @mutant STORE_NONE                  the waiter stores 0 into the join words without comparing
 *   @mutant COUNT_FIRST                 a task counts itself before it says which it is
 *   @mutant WAIT_ONCE                   wait() without a loop
 *   @mutant NO_SIGNAL                   a task that was not the first does not signal
 *
 * Two tasks end at any time. A waiter waits for the first of them, then joins both, the first one first. It may be
 * asked to stop waiting as well. It is also signaled at random.
 *
 * The protocol, as the code has it (task::join_: 0, DONE, or the waiter: ANY, a record; TASK, a joiner):
 *
 *   await_any  each task: CAS(join, 0 -> record); it fails where the task is DONE: none of the rest is asked
 *              while record.ended == 0 and no stop is requested: wait()
 *              each one asked: CAS(join, record -> 0); it fails where the task is DONE: that one counts itself
 *              while record.ended != number of those: wait(); leave
 *   complete   prev = join.exchange(DONE)
 *              ANY: w = rec.waiter; if rec.first is null: rec.first = me; rec.ended.fetch_add(1); signal(w)
 *
 * Proved: the wait ends once a task has ended; the record is not accessed after the waiter has left; what it returns has
 * ended; the tasks can be joined afterwards.
 */
#define NONE 0
#define DONE 1
#define TASK 2
#define ANY  3

byte join_[2];
byte first = 2;            /* 2: none */
byte ended = 0;
bit  record = 0;           /* alive */
bit  signaled = 0;
bit  stop = 0;

proctype Task(byte c) {
    byte prev, now;
    atomic { prev = join_[c]; join_[c] = DONE };
    if
    :: prev == TASK -> signaled = 1
    :: prev == ANY ->
        assert(record);
#ifdef MUTANT_COUNT_FIRST
        atomic { assert(record); ended++; now = ended };
        atomic { assert(record); if :: first == 2 -> first = c :: else fi };
#else
        atomic { assert(record); if :: first == 2 -> first = c :: else fi };
        atomic { assert(record); ended++; now = ended };
#endif
#ifdef MUTANT_NO_SIGNAL
        if :: now == 1 -> signaled = 1 :: else fi
#else
        signaled = 1
#endif
    :: else
    fi
}

#define wait_() atomic { signaled -> signaled = 0 }

inline ask(c) {
    if
    :: which == 2 ->
        atomic { if :: join_[c] == NONE -> join_[c] = ANY; asked++; mine[c] = 1 :: else -> which = c fi }
    :: else
    fi
}

inline leave(c) {
    if
    :: mine[c] ->
#ifdef MUTANT_STORE_NONE
        if :: join_[c] == ANY -> join_[c] = NONE; asked-- :: else fi
#else
        atomic { if :: join_[c] == ANY -> join_[c] = NONE; asked-- :: else fi }
#endif
    :: else
    fi
}

inline join_one(c) {
    atomic { if :: join_[c] == NONE -> join_[c] = TASK :: else -> assert(join_[c] == DONE) fi };
    do :: join_[c] != DONE -> wait_() :: join_[c] == DONE -> break od
}

active proctype Waiter() {
    byte which = 2, asked = 0; bit mine[2];
    record = 1;
    ask(0);
    ask(1);
    if
    :: which == 2 ->
#ifdef MUTANT_WAIT_ONCE
        if :: ended == 0 && !stop -> wait_() :: else fi
#else
        do :: ended == 0 && !stop -> wait_() :: ended || stop -> break od
#endif
    :: else
    fi;
    leave(0);
    leave(1);
#ifndef MUTANT_LEAVE_EARLY
    do :: ended != asked -> wait_() :: ended == asked -> break od;
#endif
    if
    :: which == 2 -> which = first
    :: else
    fi;
    record = 0;
    if
    :: which == 2 -> assert(stop); which = 0
    :: else -> assert(join_[which] == DONE)
    fi;
    join_one(which);
    join_one(1 - which)
}

active proctype Stopper() {
    if
    :: stop = 1; signaled = 1
    :: true
    fi
}

active proctype Spurious() { signaled = 1 }

init { atomic { run Task(0); run Task(1) } }
