/* Messages through a ring of shared memory, and the bit that shows them to the reader.
 *
 *   @large  one
 *   @large  one_small -DWORDS=3
 *   @true   two -DWRITERS=2 -DMESSAGES=2
 *   @true   killed -DKILL
 *   @deep   killed_two -DKILL -DWRITERS=2 -DMESSAGES=2
 *   @deep   more -DMESSAGES=6 -DWORDS=6
 *   @mutant SIZE_FIRST               the word with the size is written before the bytes
 *   @mutant NO_ZERO                  the word behind the message is left as it is
 *   @mutant ZERO_LATE                ... is zeroed after the message was published
 *   @mutant NO_SPARE                 a message may fill the ring, without a word behind it
 *   @mutant OLD_ROOM                 the writer counts on a word more than was given back
 *   @mutant GIVE_EARLY               the reader gives the room back, then copies the bytes
 *   @mutant LOOK_FIRST               the writer asks whether it is watched before it writes the message
 *   @mutant NO_RELOOK                the reader rests without another look
 *   @mutant REST_LATE                ... takes that look before it says that it rests
 *   @mutant BIT_FIRST                the bit is set before the message is there
 *   @mutant CLAIM_LATE               the writer says that it is watched after it has set the bit
 *   @mutant TAKE_PLAIN -DWRITERS=2   the bits are read, then set to zero
 *   @mutant TAKE_LATE                a bit is cleared after the look at its ring
 *   @mutant OR_PLAIN -DWRITERS=2     the word of bits is read, then written with one more
 *
 * Each writer has a ring of WORDS words, into which it puts MESSAGES messages of one or two words. The reader serves all
 * rings; it looks at those that are watched, and at the others when their bit is set. KILL: each writer may be
 * killed after any step, and the reader too.
 *
 * The protocol, as the code has it (comm/shared/ring.hpp, shared_transport.cpp):
 *
 *   put:    waits for room: message and one word more, as far as is known of `taken`
 *           bytes; word behind the message = 0; word = size (published)
 *           watched == 0: watched = 1; bits |= own
 *   poll:   bits = exchange(bits, 0): those rings are watched
 *           word == 0: nothing there. Else: copies the bytes; taken += size, now or some messages later
 *   rest:   watched = 0; word != 0: watched = 1, goes on looking. Else looks when there is a bit
 *
 * Proved: every message arrives, whole, once and in order, and no word is taken for a message that is none; a reader
 * that rests is notified; if one is killed, others wait only for its messages or its space, and then give up.
 * Publishing and the look at `watched` are sequentially consistent in the code, as resting and the look after it are:
 * LOOK_FIRST and REST_LATE are what happens otherwise.
 */
#ifndef WRITERS
#define WRITERS  1
#endif
#ifndef MESSAGES
#define MESSAGES 4
#endif
#ifndef WORDS
#define WORDS    4
#endif
#define BYTES    200     /* + number: the word of a message's bytes */

byte word[WRITERS * WORDS];
byte taken[WRITERS];
bit  watched[WRITERS];
byte bits = 0;
bit  writer_dead[WRITERS];
bit  reader_dead = 0;

#define at(w, position) word[(w) * WORDS + (position) % WORDS]

#ifdef KILL
#define may_die(flag) if :: flag = 1; goto dead :: skip fi
#else
#define may_die(flag) skip
#endif

proctype Writer(byte w) {
    byte number = 1, length, position = 0, end = WORDS, seen;
    bit was_watched;

    do
    :: number <= MESSAGES ->
        if :: length = 1 :: length = 2 fi;
#ifdef MUTANT_NO_SPARE
#define NEED length
#else
#define NEED (length + 1)
#endif
        if
        :: position + NEED > end ->
            if
            :: atomic { taken[w] + WORDS >= position + NEED -> end = taken[w] + WORDS }
            :: reader_dead -> goto dead
            fi
        :: else
        fi;
#ifdef MUTANT_OLD_ROOM
        end = end + 1;
#endif
#ifdef MUTANT_LOOK_FIRST
        was_watched = watched[w];
#endif
#ifdef MUTANT_BIT_FIRST
        if :: !watched[w] -> watched[w] = 1; bits = bits | (1 << w) :: else fi;
#endif
#ifdef MUTANT_SIZE_FIRST
        at(w, position) = number * 2 + length;
        if :: length == 2 -> at(w, position + 1) = BYTES + number :: else fi;
        at(w, position + length) = 0;
#else
        if :: length == 2 -> at(w, position + 1) = BYTES + number :: else fi;
        may_die(writer_dead[w]);
#if !defined(MUTANT_NO_ZERO) && !defined(MUTANT_ZERO_LATE)
        at(w, position + length) = 0;
#endif
        may_die(writer_dead[w]);
        at(w, position) = number * 2 + length;
#ifdef MUTANT_ZERO_LATE
        at(w, position + length) = 0;
#endif
#endif
        may_die(writer_dead[w]);
#ifndef MUTANT_BIT_FIRST
#ifndef MUTANT_LOOK_FIRST
        was_watched = watched[w];
#endif
        if
        :: !was_watched ->
#ifndef MUTANT_CLAIM_LATE
            watched[w] = 1;
#endif
            may_die(writer_dead[w]);
#ifdef MUTANT_OR_PLAIN
            seen = bits;
            bits = seen | (1 << w);
            seen = 0;
#else
            bits = bits | (1 << w);
#endif
#ifdef MUTANT_CLAIM_LATE
            watched[w] = 1;
#endif
        :: else
        fi;
#endif
        d_step { position = position + length; number++; length = 0; was_watched = 0 }
    :: else -> break
    od;
dead:
    skip
}

/* bits 1 to 3: from the word of a message */
#define NUMBER(value) ((value) / 2 - ((value) % 2 == 0))
#define LENGTH(value) (2 - (value) % 2)

active proctype Reader() {
    byte value, w = 0, got;
    byte position[WRITERS], next[WRITERS];
    bit looking[WRITERS];
    byte all = 0;

    atomic { for (w : 0 .. WRITERS - 1) { next[w] = 1 }; w = 0 };
    do
    :: all < WRITERS * MESSAGES ->
        /* until it is notified, or no writer is left that might */
        if
        :: bits != 0
        :: looking[0]
#if WRITERS == 2
        :: looking[1]
#endif
#ifdef KILL
        :: timeout -> break
#endif
        fi;
        may_die(reader_dead);
#ifdef MUTANT_TAKE_PLAIN
        got = bits;
        bits = 0;
#else
#ifdef MUTANT_TAKE_LATE
        got = bits;
#else
        d_step { got = bits; bits = 0 };
#endif
#endif
        atomic { for (w : 0 .. WRITERS - 1) { if :: got & (1 << w) -> looking[w] = 1 :: else fi }; got = 0 };
        for (w : 0 .. WRITERS - 1) {
            if
            :: looking[w] ->
                value = at(w, position[w]);
                if
                :: value != 0 ->
                    d_step {
                        assert(value < BYTES);
                        assert(NUMBER(value) == next[w]);
                        got = LENGTH(value)
                    };
#ifdef MUTANT_GIVE_EARLY
                    taken[w] = position[w] + got;
#endif
                    may_die(reader_dead);
                    if :: got == 2 -> assert(at(w, position[w] + 1) == BYTES + next[w]) :: else fi;
                    d_step { position[w] = position[w] + got; next[w]++; all++; got = 0; value = 0 };
                    if
                    :: taken[w] = position[w]
                    :: skip       /* later */
                    fi
                :: else ->
                    taken[w] = position[w];
                    if
                    :: skip       /* looks again some time */
                    ::
#ifdef MUTANT_REST_LATE
                        value = at(w, position[w]);
                        watched[w] = 0;
#else
                        watched[w] = 0;
                        may_die(reader_dead);
#ifndef MUTANT_NO_RELOOK
                        value = at(w, position[w]);
#endif
#endif
                        if
                        :: value == 0 -> looking[w] = 0
                        :: else ->
                            watched[w] = 1;
                            value = 0
                        fi
                    fi
                fi;
#ifdef MUTANT_TAKE_LATE
                bits = bits & ~(1 << w);
#endif
            :: else
            fi
        };
        w = 0
    :: else -> break
    od;
    for (w : 0 .. WRITERS - 1) { assert(next[w] == MESSAGES + 1 || writer_dead[w]) };
dead:
    skip
}

init {
    atomic {
        byte i;
        for (i : 0 .. WRITERS - 1) { run Writer(i) };
        i = 0
    }
}
