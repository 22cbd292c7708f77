/* The cache of global memory: one transfer for concurrent misses, and eviction against use.
 *
 *   @true   plain
 *   @large  two_gets -DGETS=2
 *   @large  fails -DFAILS
 *   @mutant NO_SECOND_LOOK                 a task that has made a line links it without looking whether another has
 *   @mutant PIN_LATE                       a get pins the line after it has released the lock
 *   @mutant EVICT_PINNED                   the eviction does not leave pinned lines alone
 *   @mutant INVALIDATE_PINNED              an invalidation deletes lines that are pinned
 *   @mutant WAIT_UNASKED                   a task queues up for the transfer without asking again whether it has ended
 *   @mutant WAKE_FIRST                     the waiters are taken out before the state changes
 *   @mutant KEEP_UNLINKED                  the last handle of a line that is not linked does not delete it
 *   @mutant KEEP_FAILED -DFAILS            a transfer that failed leaves its line in the table
 *   @mutant WAITERS_UNPINNED               a task that waits for a transfer has no pin of its own
 *
 * Three tasks get one object, GETS times each, use it, and release it. Meanwhile another object needs its
 * room (an eviction), and the object is invalidated once. FAILS: the first transfer fails.
 *
 * The protocol, as the code has it; each block under the lock of the shard is one step:
 *
 *   get:       { line = find(); found: pin(line) }     found and ready: a hit
 *              found, fetching: { state is fetching: queue up }  suspend until granted     [joined]
 *              none: made = make();  { find() again; found: as above, delete made
 *                                      none: link(made), pinned }
 *   transfer:  reads the bytes; { state = ready or failed; failed: unlink; take out the waiters }  grant them;
 *              failed: release, as those do that waited
 *   release:   { --pins; 0: not linked: delete; linked: into the order of use, evict what exceeds the bound }
 *   evict:     { the oldest line that is linked and not pinned: unlink, delete }
 *   invalidate:{ unlink; not pinned: delete }
 *
 * Proved: no line is used, pinned or deleted after it was deleted; at most one transfer is under way for a
 * linked line, and the others wait for that one; no task waits forever; at the end, each line that is not
 * linked is deleted; a failed one is not linked.
 */
#define TASKS 3
#ifndef GETS
#define GETS 1
#endif
#define LINES (TASKS * GETS * 2)   /* that may be made */
#define NONE LINES

#define FETCHING 0
#define READY 1
#define FAILED 2

byte linked = NONE;                /* the line in the table */
byte made_lines = 0;
byte pins[LINES];
byte now[LINES];
bit  alive[LINES];
byte transfers = 0;                /* under way, of the line in the table */
byte waiting[TASKS];               /* for the transfer of this line; NONE: for none */
bit  granted[TASKS];
bit  failed_once = 0;
byte done = 0;

inline delete_line(l) { assert(alive[l]); assert(pins[l] == 0 && linked != l); alive[l] = 0 }

inline unlink() {
    atomic {
        assert(linked != NONE && alive[linked]);
        gone = linked; linked = NONE;
#ifdef MUTANT_INVALIDATE_PINNED
        pins[gone] = 0;
#endif
        if :: pins[gone] == 0 -> delete_line(gone) :: else fi;
        gone = NONE
    }
}

inline release(l) {
    atomic {
        assert(alive[l] && pins[l] > 0);
        pins[l]--;
        if
#ifndef MUTANT_KEEP_UNLINKED
        :: pins[l] == 0 && linked != l -> delete_line(l)
#endif
        :: else
        fi
    }
}

/* the line is there, and pinned by this task */
inline await_transfer() {
#ifdef MUTANT_WAIT_UNASKED
    waiting[me] = line;
    granted[me];
#else
    atomic {
        assert(alive[line]);
        if :: now[line] == FETCHING -> waiting[me] = line :: else -> granted[me] = 1 fi
    };
    granted[me];
#endif
    atomic { granted[me] = 0; waiting[me] = NONE };
#ifdef MUTANT_WAITERS_UNPINNED
    atomic { assert(alive[line]); pins[line]++ };
#endif
    assert(alive[line] && now[line] != FETCHING)
}

inline take_waiters() {
    atomic {
        for (i : 0 .. TASKS - 1) { if :: waiting[i] == line -> granted[i] = 1 :: else fi }
        i = 0
    }
}

inline transfer() {
    /* the bytes are read */
    assert(alive[line] && now[line] == FETCHING);
#ifdef MUTANT_WAKE_FIRST
    take_waiters();
#endif
    atomic {
        assert(alive[line]);
#ifdef FAILS
        if :: !failed_once -> failed_once = 1; now[line] = FAILED :: else -> now[line] = READY fi;
#else
        now[line] = READY;
#endif
        if
        :: linked == line ->
            transfers--;
#ifndef MUTANT_KEEP_FAILED
            if :: now[line] == FAILED -> linked = NONE :: else fi
#endif
        :: else
        fi;
#ifndef MUTANT_WAKE_FIRST
        take_waiters()
#endif
    }
}

proctype Task(byte me) {
    byte gets, line, i;
    bit mine;
    for (gets : 1 .. GETS) {
        mine = 0;
        /* the first look */
        atomic {
            line = linked;
#ifndef MUTANT_PIN_LATE
            if
            :: line != NONE -> assert(alive[line] && now[line] != FAILED);
#ifdef MUTANT_WAITERS_UNPINNED
                if :: now[line] != FETCHING -> pins[line]++ :: else fi
#else
                pins[line]++
#endif
            :: else
            fi
#endif
        };
#ifdef MUTANT_PIN_LATE
        if :: line != NONE -> atomic { assert(alive[line]); pins[line]++ } :: else fi;
#endif
        if
        :: line != NONE -> skip
        :: else ->
            /* a line is made; the second look */
            atomic {
#ifndef MUTANT_NO_SECOND_LOOK
                if
                :: linked != NONE -> line = linked; assert(alive[line] && now[line] != FAILED);
#ifdef MUTANT_WAITERS_UNPINNED
                    if :: now[line] != FETCHING -> pins[line]++ :: else fi
#else
                    pins[line]++
#endif
                :: else ->
#endif
                    line = made_lines; made_lines++;
                    alive[line] = 1; pins[line] = 1; now[line] = FETCHING;
                    linked = line; mine = 1;
                    transfers++;
                    assert(transfers == 1)
#ifndef MUTANT_NO_SECOND_LOOK
                fi
#endif
            }
        fi;
        if
        :: mine -> transfer()
        :: !mine ->
            if :: now[line] == FETCHING -> await_transfer() :: else fi
        fi;
        /* used: its bytes are there, and stay */
        assert(alive[line]);
        assert(now[line] != FETCHING);
        release(line)
    };
    done++
}

/* the release of another line exceeds the bound, at any time */
active proctype Evictor() {
    byte gone = NONE;
    atomic {
        if
#ifdef MUTANT_EVICT_PINNED
        :: linked != NONE -> pins[linked] = 0; unlink()
#else
        :: linked != NONE && pins[linked] == 0 -> unlink()
#endif
        :: true
        fi;
        done++
    }
}

active proctype Invalidator() {
    byte gone = NONE;
    atomic {
        if
        :: linked != NONE -> if :: now[linked] == FETCHING -> transfers-- :: else fi; unlink()
        :: true
        fi;
        done++
    }
}

init {
    byte i;
    atomic {
        for (i : 0 .. TASKS - 1) { waiting[i] = NONE; run Task(i) }
        i = 0
    };
    done == TASKS + 2;
    d_step {
        for (i : 0 .. LINES - 1) {
            assert(!alive[i] || (linked == i && pins[i] == 0 && now[i] == READY))
        }
    }
}
