/* All ranks of a job wait for each other (comm/deadlock/, comm/device/progress.cpp): Mattern's four counters.
 *
 * A rank counts the records that it hands over and those that it has handled, each in the step that does it, under its
 * device's lock. A rank that is asked looks at itself: its workers sleep; the counters, under the lock; its workers have
 * slept since. It answers `idle` with the counters, or `busy`, and sends `idle_now` once it is. The first rank asks all,
 * while it knows no busy rank. Where all are idle, and what was sent is what was received, it asks again.
 * Where that comes out the same, no message was under way between the two waves, and nothing but a message makes a rank
 * go on. A rank that has left in good order is idle: only the ranks that have not are in a deadlock.
 *
 * What a device does under its lock is one step.
 * Modelled: a worker, a progress engine (which polls) and a deadlock detector, for each rank; messages that wake
 * a task, that no task waits for, and that the progress engine answers itself; ranks that leave. A wave that found messages
 * under way is repeated when they have come, which is what pauses are for.
 * Assumed: probes are neither lost nor overtaken; a newer one of a kind replaces an older one in the mailbox.
 * Proved: a report is true, and a wait of all ranks that never ends is reported.
 *
 * @true   two -DRANKS=2 -DBUDGET=4
 * @large  three -DRANKS=3 -DBUDGET=1
 * @deep   three_more -DRANKS=3 -DBUDGET=2
 * @mutant ONE_WAVE -DRANKS=2 -DBUDGET=3       reported after the first wave
 * @mutant SUMS_ONCE -DRANKS=2 -DBUDGET=3      the second wave asks only for idleness
 * @mutant IDLE_ONCE -DRANKS=2 -DBUDGET=3      the waves compare counters, and idleness is not checked
 * @mutant NO_SUMS -DRANKS=2 -DBUDGET=3        two waves, but for idleness alone
 * @mutant COUNT_SENT_LATE -DRANKS=2 -DBUDGET=3   a progress engine's record is counted after it was sent
 * @mutant COUNT_RECEIVED_EARLY -DRANKS=2 -DBUDGET=3   a record is counted when it is taken, not when it was handled
 * @mutant ALL_LEFT -DRANKS=2 -DBUDGET=2       a job that ends is taken for a deadlock
 * @mutant NO_NOTICE -DRANKS=2 -DBUDGET=2      a rank that was busy does not report that it is idle now
 * @mutant NOTICE_FIRST -DRANKS=2 -DBUDGET=2   of two letters the older one is read last: `busy` outlives `idle_now`
 */
#define NO_RANK 255

byte budget = BUDGET; /* messages that tasks and servers may still send */
byte under_way[RANKS];
byte sent[RANKS], received[RANKS];
byte wakes[RANKS];
bool awake[RANKS], left_job[RANKS];
bool reported;

/* The mailboxes: of each rank what it was asked, by the number of the wave, and what it has answered. */
byte asked[RANKS];
byte busy_wave[RANKS], idle_wave[RANKS];
byte idle_sent[RANKS], idle_received[RANKS];
bool idle_left[RANKS];
bool notice[RANKS];

inline choose_other(r, to) {
    if
    :: to = (r + 1) % RANKS
    :: RANKS > 2 -> to = (r + 2) % RANKS
    fi
}

/* A task that runs sends, and waits; or its rank leaves, and its tasks wait for nothing any more. */
proctype worker(byte me) {
    byte to;
end:
    do
    :: atomic { awake[me] && budget > 0 -> choose_other(me, to); budget--; under_way[to]++; sent[me]++; to = 0 }
    :: awake[me] -> awake[me] = false
    :: atomic { awake[me] && !left_job[me] -> left_job[me] = true; awake[me] = false; break }
    od
}

/* Takes a record and handles it: it wakes a task, or none, or is answered at once. */
proctype server(byte me) {
    byte to;
#ifdef MUTANT_COUNT_SENT_LATE
    bool late;
#endif
end:
    do
    :: atomic { under_way[me] > 0 -> under_way[me]--; received[me]++;
#ifdef MUTANT_COUNT_RECEIVED_EARLY
       };
       atomic {
#endif
       if
       :: !left_job[me] && !awake[me] -> wakes[me]++; awake[me] = true
       :: true
#ifdef MUTANT_COUNT_SENT_LATE
       :: budget > 0 && !late -> choose_other(me, to); budget--; under_way[to]++; to = 0; late = true
#else
       :: budget > 0 -> choose_other(me, to); budget--; under_way[to]++; sent[me]++; to = 0
#endif
       fi }
#ifdef MUTANT_COUNT_SENT_LATE
    :: late -> sent[me]++; late = false
#endif
    od
}

/* A look of a rank at itself. */
inline look(me, is_idle, has_left, s, r, before) {
    d_step { has_left = left_job[me]; before = wakes[me]; is_idle = has_left || !awake[me] };
    d_step { s = sent[me]; r = received[me] };
    d_step {
        is_idle = is_idle && (has_left || (!awake[me] && !left_job[me] && wakes[me] == before));
#ifdef MUTANT_IDLE_ONCE
        is_idle = true;
#endif
        before = 0
    }
}

/* A rank that is asked. */
proctype asked_one(byte me) {
    byte wave, s, r, before;
    bool is_idle, has_left, owes;
end:
    do
    :: asked[me] != 0 ->
        d_step { wave = asked[me]; asked[me] = 0 };
        look(me, is_idle, has_left, s, r, before);
        d_step {
            if
            :: is_idle -> idle_wave[me] = wave; idle_sent[me] = s; idle_received[me] = r; idle_left[me] = has_left;
                owes = false
            :: else -> busy_wave[me] = wave; owes = true
            fi;
            s = 0; r = 0; wave = 0; is_idle = false; has_left = false
        }
#ifndef MUTANT_NO_NOTICE
    :: owes && (!awake[me] || left_job[me]) ->
        look(me, is_idle, has_left, s, r, before);
        d_step {
            if
            :: is_idle -> owes = false; notice[me] = true
            :: else
            fi;
            s = 0; r = 0; is_idle = false; has_left = false
        }
#endif
    od
}

#define QUIET (under_way[0] == 0 && under_way[1] == 0 && (RANKS < 3 || under_way[RANKS - 1] == 0))
#define KNOWS_BUSY (busy[1] || (RANKS > 2 && busy[RANKS - 1]))

/* A report is true: no message is under way, all ranks that have not left sleep, and there is one. */
inline check_report() {
    d_step {
        i = 0;
        any_left = false;
        do
        :: i < RANKS ->
            assert(under_way[i] == 0);
            assert(left_job[i] || !awake[i]);
            any_left = any_left || !left_job[i];
            i++
        :: else -> break
        od;
        assert(any_left);
        i = 0
    }
}

/* Whether what was sent is what was received; whether the second wave found what the first did; whether that was all. */
#if defined(MUTANT_NO_SUMS)
#define EVEN true
#elif defined(MUTANT_SUMS_ONCE)
#define EVEN (sum_sent == sum_received || phase == SECOND)
#else
#define EVEN (sum_sent == sum_received)
#endif
#if defined(MUTANT_NO_SUMS) || defined(MUTANT_SUMS_ONCE)
#define SAME true
#else
#define SAME (sum_sent == first_sent && sum_received == first_received)
#endif
#ifdef MUTANT_ONE_WAVE
#define LAST_WAVE true
#else
#define LAST_WAVE false
#endif
#define HAS_LETTER(r) (busy_wave[r] != 0 || idle_wave[r] != 0 || notice[r])

#define NONE 0
#define FIRST 1
#define SECOND 2

/* The first rank, which asks. */
proctype asker() {
    byte phase = NONE, wave, missing, i, s, r, sum_sent, sum_received, first_sent, first_received, waiting, before;
    bool is_idle, has_left, paused, any_left;
    bool busy[RANKS], expected[RANKS];
end:
    do
    :: !reported && phase == NONE && !awake[0] && !left_job[0] && !KNOWS_BUSY && (!paused || QUIET) ->
        paused = false;
        phase = FIRST;
again:
        look(0, is_idle, has_left, s, r, before);
        if
        :: !is_idle -> phase = NONE
        :: else ->
            d_step {
                wave = wave % 4 + 1;
                sum_sent = s;
                sum_received = r;
                waiting = (has_left -> 0 : 1);
                missing = RANKS - 1;
                i = 1;
                do
                :: i < RANKS -> expected[i] = true; asked[i] = wave; i++
                :: else -> break
                od;
                i = 0
            }
        fi;
        d_step { s = 0; r = 0; is_idle = false; has_left = false }
    :: atomic { HAS_LETTER(1) -> i = 1 } -> goto read
    :: atomic { RANKS > 2 && HAS_LETTER(RANKS - 1) -> i = RANKS - 1 } -> goto read
    od;
read:
    skip;
    d_step { /* what one rank has sent: `idle` or `busy`, and `idle_now` behind it */
#ifdef MUTANT_NOTICE_FIRST
        if
        :: notice[i] -> notice[i] = false; busy[i] = false
        :: else
        fi;
#endif
        if
        :: idle_wave[i] != 0 && idle_wave[i] == wave && expected[i] ->
            expected[i] = false;
            busy[i] = false;
            if
            :: phase != NONE ->
                missing--;
                sum_sent = sum_sent + idle_sent[i];
                sum_received = sum_received + idle_received[i];
                waiting = waiting + (idle_left[i] -> 0 : 1)
            :: else
            fi
        :: else
        fi;
        idle_wave[i] = 0; idle_sent[i] = 0; idle_received[i] = 0; idle_left[i] = false;
        if
        :: busy_wave[i] != 0 && busy_wave[i] == wave && expected[i] ->
            expected[i] = false;
            busy[i] = true;
            phase = NONE
        :: else
        fi;
        busy_wave[i] = 0;
#ifndef MUTANT_NOTICE_FIRST
        if
        :: notice[i] -> notice[i] = false; busy[i] = false
        :: else
        fi;
#endif
        i = 0
    };
    if
    :: phase == NONE -> goto over
    :: phase != NONE && missing != 0 -> goto end
    :: else
    fi;
    if
    :: !EVEN -> phase = NONE; paused = true
    :: EVEN && phase == FIRST && !LAST_WAVE ->
        d_step { first_sent = sum_sent; first_received = sum_received; phase = SECOND };
        goto again
    :: EVEN && phase == SECOND && !SAME -> phase = NONE; paused = true
    :: else ->
        if
#ifndef MUTANT_ALL_LEFT
        :: waiting == 0 -> phase = NONE
#endif
        :: else ->
            check_report();
            reported = true;
            phase = NONE
        fi
    fi;
over:
    skip;
    d_step { sum_sent = 0; sum_received = 0; first_sent = 0; first_received = 0; waiting = 0; missing = 0 };
    goto end
}

/* When nothing moves any more. A rank that has left queries none, and here no other one takes its place. */
proctype monitor() {
end:
    timeout -> assert(reported || left_job[0])
}

init {
    byte k = 0;
    atomic {
        do
        :: k < RANKS ->
            awake[k] = true;
            run worker(k);
            run server(k);
            if
            :: k > 0 -> run asked_one(k)
            :: else
            fi;
            k++
        :: else -> break
        od;
        run asker();
        run monitor()
    }
}
