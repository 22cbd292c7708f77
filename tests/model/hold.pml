/* Which workers the threads of a program hold for their teams (omp/core/holders.hpp): two teams that are open at the same time
 * have no worker in common, and threads without a region give theirs up to others.
 *
 *   @true   two -DOPENERS=2 -DREGIONS=3
 *   @large  three -DOPENERS=3 -DREGIONS=2
 *   @true   few -DOPENERS=2 -DREGIONS=3 -DMOST=1
 *   @large  three_for_two -DOPENERS=3 -DREGIONS=2 -DMOST=2
 *   @mutant READS_FIRST -DOPENERS=2 -DREGIONS=3 -DMOST=1   an opener reads `changes` before it counts its region
 *   @mutant LOOKS_FIRST -DOPENERS=2 -DREGIONS=3 -DMOST=1   a search looks whether a thread has a region, and counts the change then
 *   @mutant NO_CHANGE -DOPENERS=2 -DREGIONS=3 -DMOST=1     a worker is taken away without a change of the number
 *   @mutant EARLY_END -DOPENERS=2 -DREGIONS=3 -DMOST=1     an opener ends its hold before its members have ended
 *   @mutant STALE_COUNT -DOPENERS=3 -DREGIONS=1   a search adds workers once, to the number that it knew before
 *
 * Each opener opens regions for one more member, on a worker that it holds. MOST: workers that there can be. With fewer than
 * openers, one that finds none shares a worker, for one region.
 *
 *   open:    open_regions += 1 (seq_cst); now = changes (seq_cst)
 *            now and the number of workers are those of the last region: the same worker
 *            else: under the lock: a worker that it holds; or one that no opener holds;
 *                  or, until there is one or no more can be had: adds a worker;
 *                  or one whose holder h has no region: h.open_regions == 0; changes += 1; h.open_regions == 0 still
 *   close:   when the member has ended: open_regions -= 1
 */
#ifndef OPENERS
#define OPENERS 2
#endif
#ifndef REGIONS
#define REGIONS 3
#endif
#ifndef MOST
#define MOST OPENERS
#endif
#define NONE 9

byte workers = 1, changes = 1;
byte holder[MOST];  /* number of its opener; NONE */
byte regions[OPENERS];
byte running[MOST]; /* members there */
byte sharing;       /* openers that have found no worker */
bit lock;

/* under the lock: w, if the opener may have it */
inline try_free(w) {
    if
    :: at == NONE && w < now_workers && holder[w] == NONE -> at = w; holder[w] = me
    :: else
    fi
}

inline try_idle(w) {
    if
    :: at == NONE && w < now_workers && holder[w] != me ->
        h = holder[w];
        if
        :: regions[h] == 0 ->
#ifdef MUTANT_LOOKS_FIRST
            if
            :: regions[h] == 0 -> changes++; at = w; holder[w] = me
            :: else
            fi
#else
#ifndef MUTANT_NO_CHANGE
            changes++;
#endif
            if
            :: regions[h] == 0 -> at = w; holder[w] = me
            :: else
            fi
#endif
        :: else
        fi;
        h = 0
    :: else
    fi
}

#define each(what) i = 0; do :: i < MOST -> what(i); i++ :: else -> i = 0; break od

inline try_own(w) {
    if
    :: at == NONE && w < now_workers && holder[w] == me -> at = w
    :: else
    fi
}

inline search() {
    atomic { lock == 0 -> lock = 1 };
    at = NONE;
    each(try_own);
    each(try_free);
#ifdef MUTANT_STALE_COUNT
    if
    :: at == NONE ->
        if :: workers < now_workers + 1 && now_workers < MOST -> workers = now_workers + 1 :: else fi;
        now_workers = workers;
        each(try_free)
    :: else
    fi;
#else
    do
    :: at == NONE && now_workers < MOST ->
        if :: workers < now_workers + 1 -> workers = now_workers + 1 :: else fi;
        now_workers = workers;
        each(try_free)
    :: else -> break
    od;
#endif
    each(try_idle);
    if :: at == NONE -> at = 0; shares = 1; sharing++ :: else fi;
    lock = 0
}

proctype opener(byte me) {
    byte left = REGIONS, at = NONE, h, i;
    byte now, now_workers, seen, seen_workers;
    bit shares;
    do
    :: left > 0 ->
        left--;
        now_workers = workers;
#ifdef MUTANT_READS_FIRST
        now = changes; regions[me]++;
#else
        regions[me]++; now = changes;
#endif
        if
        :: now == seen && now_workers == seen_workers
        :: else -> search()
        fi;
        seen = now; seen_workers = now_workers; now = 0; now_workers = 0;
        running[at]++;
        assert(running[at] == 1 || (sharing > 0 && MOST < OPENERS));
#ifdef MUTANT_EARLY_END
        regions[me]--; running[at]--;
#else
        running[at]--; regions[me]--;
#endif
        if :: shares -> atomic { sharing--; shares = 0; seen = 0 } :: else fi
    :: left == 0 -> break
    od
}

init {
    byte k;
    atomic {
        do
        :: k < MOST -> holder[k] = NONE; k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < OPENERS -> run opener(k); k++
        :: else -> break
        od
    }
}
