// A thread number keeps its thread when teams grow and shrink, and so what is thread-local, whatever other
// threads open in between.
// libraries: -pthread -ldl
// arguments: nested
// again with: OMP_PLACES=threads OMP_MAX_ACTIVE_LEVELS=2
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { most = 160 };

static __thread int counter;
static int number;
#pragma omp threadprivate(number)

// What a thread of the program knows of its teams: by number, the thread and its counter, and what that has
// counted.
struct known {
    int *counters[most], counted[most];
    long threads[most];
    int smallest; // of the last teams: the compilers' own libraries may end threads that one leaves out
};

static int keeps_all; // this library does not

static void inner(void) {
    int there = 0;
#pragma omp parallel num_threads(3) reduction(+ : there)
    ++there;
    CHECK(there == 3 || there == 1);
}

static void open_region(struct known *k, int size) {
    int there = 0;
#pragma omp parallel num_threads(size) reduction(+ : there)
    {
        const int i = omp_get_thread_num();
        const long self = syscall(SYS_gettid);
        ++there;
        if (k->counters[i] && (keeps_all || i < k->smallest)) {
            CHECK(k->threads[i] == self);
            CHECK(k->counters[i] == &counter && counter == k->counted[i]);
            CHECK(number == i + 1);
        }
        number = i + 1;
        k->threads[i] = self;
        k->counters[i] = &counter;
        k->counted[i] = ++counter;
        if (omp_get_max_active_levels() > 1 && size < 10)
            inner();
    }
    CHECK(there == size);
    k->smallest = size < k->smallest ? size : k->smallest;
    if (keeps_all) // the threads of larger teams, too
        for (int i = 0; i < most; i++)
            CHECK(!k->counters[i] || *k->counters[i] == k->counted[i]);
}

static void open_regions(const int *sizes, int count) {
    static __thread struct known mine;
    mine.smallest = most;
    for (int i = 0; i < count; i++)
        open_region(&mine, sizes[i]);
}

static void *of_pthread(void *unused) {
    const int sizes[] = {3, 5, 2, 5};
    open_regions(sizes, 4);
    return unused;
}

static void beside_pthreads(struct known *k, int size) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, of_pthread, NULL) == 0);
    open_region(k, size);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static struct known mine = {.smallest = most};

int main(int argc, char **argv) {
    keeps_all = dlsym(RTLD_DEFAULT, "fult_omp_start_runtime") != NULL;
    if (argc > 1 && strcmp(argv[1], "nested") == 0)
        omp_set_max_active_levels(2);
    const int sizes[] = {1, 2, 2, 4, 6, 2, 6, 1, 7, 3};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        open_region(&mine, sizes[i]);
        if (i % 3 == 2)
            beside_pthreads(&mine, sizes[i]);
    }
    for (int size = 20; size <= most; size += 70) // more than each looks at one by one
        for (int i = 0; i < 3; i++)
            open_region(&mine, size);
    beside_pthreads(&mine, 4);
    open_region(&mine, most);
    return 0;
}
