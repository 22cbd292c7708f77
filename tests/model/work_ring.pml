/* The shares of an OpenMP team's work-sharing constructs (omp/core/work_ring.hpp): all members of a construct use one share, no other
 * construct has it until all have left, and a member that runs ahead waits for no other one.
 *
 *   @true   two_members -DMEMBERS=2 -DCONSTRUCTS=6
 *   @true   two_places -DMEMBERS=2 -DCONSTRUCTS=6 -DLENGTH=2
 *   @large  three_members -DMEMBERS=3 -DCONSTRUCTS=4
 *   @large  three_two_places -DMEMBERS=3 -DCONSTRUCTS=5 -DLENGTH=2
 *   @deep   more_constructs -DMEMBERS=3 -DCONSTRUCTS=6
 *   @deep   four_members -DMEMBERS=4 -DCONSTRUCTS=3
 *   @mutant WAITS            a member that runs ahead waits for its place
 *   @mutant NO_MARK          a share beyond the ring is made without a mark on the place
 *   @mutant MARKS_ALWAYS     a place is marked while its last member, which saw no mark, passes it on
 *   @mutant LOOKS_FIRST      the turn is looked at before the mark, and not again
 *   @mutant PASSES_TO_NEXT   a marked place is passed on to the next construct, which has a share beyond the ring
 *   @mutant NO_MUTEX         a marked place is passed on while another member makes a share beyond the ring
 *   @mutant ANY_MARKED       each member that leaves a marked share takes itself for the last one
 *   @mutant FREES_UNMARKED   a share beyond the ring is not marked: its last member takes it for a place
 *
 * Each member meets the same constructs in the same order. Before one of them it may wait for the first member to come to the end,
 * as a program may do by a lock or a flag: if that member waits for another one, all wait.
 *
 *   enter(c):    share = place(c)
 *                if share.turn != c: share = share_beyond(c)
 *   leave(s):    before = s.left.fetch_add(1)
 *                if before < size - 1: return
 *                if before == size - 1: s.left = 0, s.turn += length; return
 *                if before == (marked | size - 1): end_marked(s)
 *   share_beyond(c): until found, with the mutex: find(c)
 *   find(c):     if beyond[c]: return it
 *                is_marked = mark(place(c))
 *                if place(c).turn == c: return place(c)
 *                if !is_marked: return none                 (its last member is about to change the turn)
 *                beyond[c] = a share with left = marked; latest[place] = c; return it
 *   mark(p):     CAS loop: if marked: return true; if left == 0 or left == size: return false; left |= marked; return true
 *   end_marked(s): with the mutex: if s is in beyond: free it
 *                else: s.left = 0, s.turn = max(s.turn, latest[place]) + length
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef CONSTRUCTS
#define CONSTRUCTS 4
#endif
#ifndef LENGTH
#define LENGTH 1
#endif
#define MARKED 16
#define PLACE(c) ((c) % LENGTH)

byte turn[LENGTH], left[LENGTH], latest[LENGTH];
bool beyond[CONSTRUCTS]; /* there is such a share */
byte left_of[CONSTRUCTS];
bool mutex, first_ended;

/* What must hold. */
byte in_place[LENGTH]; /* members inside */
byte in_beyond[CONSTRUCTS];
byte entered[CONSTRUCTS]; /* by members */
bool at_place[CONSTRUCTS];   /* the first one's choice */

inline lock() { atomic { !mutex -> mutex = true } }
inline unlock() { mutex = false }

inline enter_share(c, is_beyond) {
    d_step {
        assert(entered[c] == 0 || at_place[c] == !is_beyond);
        at_place[c] = !is_beyond;
        entered[c]++;
        if
        :: is_beyond -> assert(beyond[c]); in_beyond[c]++
        :: else -> assert(turn[PLACE(c)] == c); in_place[PLACE(c)]++
        fi
    }
}

proctype member(byte me) {
    byte c, before, to;
    bool found, is_beyond, is_marked, is_turn;
    do
    :: c == CONSTRUCTS -> break
    :: c < CONSTRUCTS ->
       if
       :: me != 0 -> first_ended
       :: true -> skip
       fi;

       /* enter */
       is_beyond = false;
       if
       :: turn[PLACE(c)] == c -> skip
       :: else ->
#ifdef MUTANT_WAITS
          turn[PLACE(c)] == c || beyond[c];
#endif
          found = false;
          do
          :: found -> break
          :: !found ->
             lock();
             if
             :: beyond[c] -> found = true; is_beyond = true
             :: !beyond[c] ->
#ifdef MUTANT_LOOKS_FIRST
                is_turn = (turn[PLACE(c)] == c);
#endif
                atomic {
#ifdef MUTANT_NO_MARK
                    is_marked = true
#else
                    if
                    :: left[PLACE(c)] >= MARKED -> is_marked = true
#ifndef MUTANT_MARKS_ALWAYS
                    :: left[PLACE(c)] == 0 || left[PLACE(c)] == MEMBERS -> is_marked = false
#endif
                    :: else -> left[PLACE(c)] = left[PLACE(c)] + MARKED; is_marked = true
                    fi
#endif
                }
#ifndef MUTANT_LOOKS_FIRST
                is_turn = (turn[PLACE(c)] == c);
#endif
                if
                :: is_turn -> found = true
                :: !is_turn && is_marked ->
                   beyond[c] = true;
#ifdef MUTANT_FREES_UNMARKED
                   left_of[c] = 0;
#else
                   left_of[c] = MARKED;
#endif
                   latest[PLACE(c)] = c;
                   found = true;
                   is_beyond = true
                :: !is_turn && !is_marked -> skip
                fi
             fi;
             unlock();
             if
             :: found -> skip
             :: !found -> turn[PLACE(c)] == c || left[PLACE(c)] != MEMBERS && left[PLACE(c)] != 0 || beyond[c]
             fi
          od
       fi;
       enter_share(c, is_beyond);

       /* leave */
       if
       :: is_beyond ->
          d_step { in_beyond[c]--; before = left_of[c]; left_of[c]++ }
       :: !is_beyond ->
          d_step { in_place[PLACE(c)]--; before = left[PLACE(c)]; left[PLACE(c)]++ }
       fi;
       if
       :: before < MEMBERS - 1 -> skip
       :: before == MEMBERS - 1 ->
          assert(!is_beyond && entered[c] == MEMBERS && in_place[PLACE(c)] == 0);
          left[PLACE(c)] = 0;
          turn[PLACE(c)] = turn[PLACE(c)] + LENGTH
#ifdef MUTANT_ANY_MARKED
       :: before >= MARKED ->
#else
       :: before == MARKED + MEMBERS - 1 ->
#endif
#ifndef MUTANT_NO_MUTEX
          lock();
#endif
          if
          :: is_beyond ->
             assert(entered[c] == MEMBERS && in_beyond[c] == 0);
             beyond[c] = false
          :: !is_beyond ->
             assert(entered[c] == MEMBERS && in_place[PLACE(c)] == 0);
             to = c;
#ifndef MUTANT_PASSES_TO_NEXT
             if
             :: latest[PLACE(c)] > c -> to = latest[PLACE(c)]
             :: else -> skip
             fi;
#endif
             left[PLACE(c)] = 0;
             turn[PLACE(c)] = to + LENGTH
          fi;
#ifndef MUTANT_NO_MUTEX
          unlock()
#endif
#ifndef MUTANT_ANY_MARKED
       :: before >= MARKED && before != MARKED + MEMBERS - 1 -> skip
#endif
       fi;
       d_step {
           c++;
           before = 0;
           to = 0;
           found = false;
           is_beyond = false;
           is_marked = false;
           is_turn = false
       }
    od;
    if
    :: me == 0 -> first_ended = true
    :: else -> skip
    fi
}

init {
    byte i;
    atomic {
        do
        :: i < LENGTH -> turn[i] = i; i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < MEMBERS -> run member(i); i++
        :: else -> break
        od
    }
}
