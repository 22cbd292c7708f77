/* Three levels: words, summary, top hint. Hints may be wrong for a moment, never for good.
 *
 *   @true   each_level
 *   @large  stop_early -DSTOP_EARLY   a signaler that finds the summary bit set leaves without a look at the top hint
 *   @deep   longer -DPASSES=3
 *   @mutant HINT_FIRST              signal: summary before word
 *   @mutant HINT_LOAD_FIRST         signal: the load of the summary overtakes the atomic OR on the word
 *   @mutant WORD_THEN_HINT          scan: takes the bits, then clears the hint without a look back
 *   @mutant NO_RESCAN               scan: an empty line's hint is cleared, the line is not read again
 *   @mutant RESCAN_FIRST            scan: reads the line again, then clears the hint
 *   @mutant NO_RESET                scan: the second look finds a bit, the hint stays cleared
 *   @mutant RESET_ONE_LEVEL         scan: sets the summary bit again, but not the top hint
 *
 * One top bit over one summary line of two bits, each over a line of words (one task bit represents the line). Two
 * signalers with two signals each, to any line; two scanners (the home and a thief), a bounded number of passes.
 *
 * The protocol, as the code has it (one step is one atomic operation, all seq_cst):
 *
 *   signal:  words.fetch_or(bit)
 *            if !(summary.load & line's bit): summary.fetch_or(line's bit)
 *            if !(top.load & summary line's bit): top.fetch_or(summary line's bit)
 *            [stop_early: the look at top only if it has just set the summary bit. Right as well, and one load less;
 *             but a signaler that is interrupted between its two steps then hides later signals until it goes on.]
 *   scan:    a top bit -> a summary bit -> the line's words; takes bits by fetch_and
 *            the line is empty: summary.fetch_and(~line's bit), reads the line again: not empty: does what a signaler does
 *              after the word: summary.fetch_or, and top if its bit is not set
 *            the summary line is empty: top.fetch_and(~bit), reads it again: not empty: top.fetch_or
 *   The levels adapt without a switch that could be raced for if the first line (512 slots) has no hint at all:
 *   it is always scanned, signals to it touch nothing else, and only the lines behind it are reached by hints.
 *
 * Proved: when the signalers are through and the scanners between two passes, every set word bit has its summary
 * bit and its top bit set, so a scan from the top finds it.
 */
#ifndef PASSES
#define PASSES 2
#endif
#define LINES 2

bit  words[LINES];
byte summary = 0;      /* bit l: line l may have bits */
bit  top = 0;
byte active_ = 4;      /* signalers and scanners that are not through */

#define BIT(l) (1 << (l))

/* what follows the change of a word */
inline raise(l) {
#ifdef STOP_EARLY
    if
    :: !(summary & BIT(l)) ->
        summary = summary | BIT(l);
        if :: !top -> top = 1 :: else fi
    :: else
    fi
#else
    if :: !(summary & BIT(l)) -> summary = summary | BIT(l) :: else fi;
    if :: !top -> top = 1 :: else fi
#endif
}

inline signal(l) {
#ifdef MUTANT_HINT_FIRST
    raise(l); words[l] = 1
#else
#ifdef MUTANT_HINT_LOAD_FIRST
    seen = summary & BIT(l);
    words[l] = 1;
    if :: !seen -> summary = summary | BIT(l) :: else fi;
    if :: !top -> top = 1 :: else fi
#else
    words[l] = 1; raise(l)
#endif
#endif
}

proctype Signaler() {
    byte l, seen; byte left = 2;
    do
    :: left > 0 ->
        atomic { left--; if :: l = 0 :: l = 1 fi };
        signal(l);
        l = 0
    :: left == 0 -> active_--; break
    od
}

inline scan_line(l) {
    if
    :: words[l] -> /* take: fetch_and */
        words[l] = 0;
#ifdef MUTANT_WORD_THEN_HINT
        if :: !words[l] -> summary = summary & ~BIT(l) :: else fi
#endif
    :: !words[l] -> /* empty: clear the hint, look again */
#ifdef MUTANT_RESCAN_FIRST
        if :: !words[l] -> summary = summary & ~BIT(l) :: else fi
#else
        summary = summary & ~BIT(l);
#ifndef MUTANT_NO_RESCAN
        if
        :: words[l] ->
#ifdef MUTANT_RESET_ONE_LEVEL
            summary = summary | BIT(l)
#else
#ifndef MUTANT_NO_RESET
            summary = summary | BIT(l);
            if :: !top -> top = 1 :: else fi
#endif
#endif
        :: !words[l]
        fi
#endif
#endif
    fi
}

proctype Scanner() {
    byte left = PASSES;
    do
    :: left > 0 && top ->
        left--;
        if
        :: summary & 1 -> scan_line(0)
        :: summary & 2 -> scan_line(1)
        :: summary == 0 ->
            top = 0;
            if :: summary != 0 -> top = 1 :: summary == 0 fi
        fi
    :: true -> active_--; break
    od
}

active proctype Check() {
    active_ == 0;
    assert(!words[0] || (summary & 1));
    assert(!words[1] || (summary & 2));
    assert(summary == 0 || top)
}

init { atomic { run Signaler(); run Signaler(); run Scanner(); run Scanner() } }
