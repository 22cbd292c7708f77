// Few tasks are alive at a time: a task that waits runs its own children first, newest first, wherever their
// slots are, and a task that generates very many lets others run. Counted where one thread decides alone.
#include <omp.h>

#include "check.h"

static long alive, most_alive, nodes;

static void begin(void) {
    if (omp_get_num_threads() == 1) {
        if (++alive > most_alive)
            most_alive = alive;
    }
}
static void end(void) {
    if (omp_get_num_threads() == 1)
        --alive;
}

// An uneven tree: each node has up to seven children, and waits for them.
static void node(unsigned state, int depth) {
    begin();
    const int children = depth == 0 ? 0 : (int)(state >> 28) % 8;
    for (int i = 0; i < children; i++) {
        state = state * 1664525u + 1013904223u + (unsigned)i;
#pragma omp task firstprivate(state)
        node(state, depth - 1);
    }
#pragma omp taskwait
#pragma omp atomic
    ++nodes;
    end();
}

static void tree(void) {
    nodes = alive = most_alive = 0;
#pragma omp parallel
#pragma omp single
    for (unsigned i = 0; i < 60; i++) { // words of slots begin and end at all places of the tree
#pragma omp task firstprivate(i)
        node(i << 23 | 0x60000000u, 9);
        if (i % 20 == 19) {
#pragma omp taskwait
        }
    }
    CHECK(nodes > 2000);
    CHECK(most_alive <= 100);
}

struct large {
    char bytes[20000];
};

// In a block of the task, and in memory of its own.
static void producer(int number) {
    long ran = 0;
    struct large data = {{3}};
    alive = most_alive = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < number; i++) {
        begin();
        if (i % 16 == 0) {
#pragma omp task firstprivate(data) shared(ran)
            {
                CHECK(data.bytes[0] == 3 && data.bytes[sizeof data.bytes - 1] == 0);
#pragma omp atomic
                ++ran;
                end();
            }
        } else {
#pragma omp task shared(ran)
            {
#pragma omp atomic
                ++ran;
                end();
            }
        }
    }
    CHECK(ran == number);
    CHECK(most_alive <= 64 * 6);
}

// A task that waits for its generator does not keep it from going on.
static void waits_for_its_generator(void) {
    omp_lock_t lock;
    int ran = 0;
    omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
    {
        omp_set_lock(&lock);
        for (int i = 0; i < 300; i++) {
#pragma omp task shared(ran, lock)
            {
                omp_set_lock(&lock);
                ++ran;
                omp_unset_lock(&lock);
            }
        }
        omp_unset_lock(&lock);
    }
    CHECK(ran == 300);
    omp_destroy_lock(&lock);
}

int main(void) {
    tree();
    producer(20000);
    waits_for_its_generator();
    return 0;
}
