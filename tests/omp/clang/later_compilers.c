/* What clang 15 and later emit, called by hand: tasks that depend on all memory, and those without an entry.
 */
#include <omp.h>
#include <stddef.h>

#include "check.h"

typedef struct {
    int reserved_1, flags, reserved_2, reserved_3;
    const char *source;
} location;
typedef struct {
    size_t address, length;
    unsigned char kind;
} dependence;
typedef struct task {
    void *shareds;
    int (*entry)(int, struct task *);
    int part;
    void *destructors, *priority;
} task;
int __kmpc_global_thread_num(location *);
task *__kmpc_omp_task_alloc(location *, int, int, size_t, size_t, int (*)(int, task *));
int __kmpc_omp_task_with_deps(location *, int, task *, int, dependence *, int, dependence *);
/* By this name, as a library of an earlier compiler has no such function. */
void __kmpc_omp_taskwait_deps_51(location *, int, int, dependence *, int, dependence *, int)
    __attribute__((weak));

enum { in = 1, out = 3, all_memory = 0x80, tied = 1 };
static location here = {0, 2, 0, 0, ";file;function;1;1;;"};
static int a, b, before, of_all, after;

static void generate(int (*entry)(int, task *), int count, dependence *list) {
    const int thread = __kmpc_global_thread_num(&here);
    __kmpc_omp_task_with_deps(&here, thread,
                              __kmpc_omp_task_alloc(&here, thread, tied, sizeof(task), 0, entry), count, list,
                              0, NULL);
}

static int load(int *from) { return __atomic_load_n(from, __ATOMIC_ACQUIRE); }
static void count_one(int *to) { __atomic_fetch_add(to, 1, __ATOMIC_ACQ_REL); }

static int run_of_all(int thread, task *t) {
    (void)thread, (void)t;
    EXPECT(load(&before) == 2 && load(&after) == 0);
    count_one(&of_all);
    return 0;
}

/* The table of the generator has entries of an earlier round, of readers and of writers. */
static void with_all_memory(dependence all, int with_others) {
    dependence list[2] = {all, {(size_t)&a, 0, in}};
    omp_event_handle_t writer, reader;
    before = of_all = after = 0;
#pragma omp task depend(out : a) detach(writer)
    count_one(&before);
#pragma omp task depend(in : b) detach(reader)
    count_one(&before);
    generate(run_of_all, 1 + with_others, list);
#pragma omp task depend(in : b)
    {
        EXPECT(load(&of_all) == 1);
        count_one(&after);
    }
#pragma omp task depend(out : a)
    {
        EXPECT(load(&of_all) == 1);
        count_one(&after);
    }
#pragma omp task depend(in : b)
    {
        EXPECT(load(&of_all) == 1);
        count_one(&after);
    }
    EXPECT(load(&of_all) == 0 && load(&after) == 0);
    omp_fulfill_event(writer);
#pragma omp taskyield
    EXPECT(load(&of_all) == 0 && load(&after) == 0);
    omp_fulfill_event(reader);
#pragma omp taskwait
    EXPECT(of_all == 1 && after == 3);
}

static void without_entry(void) {
    omp_event_handle_t first;
    int second = 0;
#pragma omp task depend(out : a) detach(first)
    {}
    dependence list[] = {{(size_t)&a, 0, in}, {(size_t)&b, 0, out}};
    generate(NULL, 2, list);
    dependence next[] = {{(size_t)&b, 0, out}};
    if (__kmpc_omp_taskwait_deps_51)
        __kmpc_omp_taskwait_deps_51(&here, __kmpc_global_thread_num(&here), 1, next, 0, NULL, 1);
#pragma omp task depend(in : b) shared(second)
    count_one(&second);
    EXPECT(load(&second) == 0);
    omp_fulfill_event(first);
#pragma omp taskwait
    EXPECT(second == 1);
}

static void all(void) {
    const dependence address = {(size_t)-1, 0, out}, flag = {0, 0, all_memory};
    for (int round = 0; round < 20; ++round) {
        with_all_memory(address, round % 2);
        with_all_memory(flag, round % 2);
        without_entry();
    }
}

int main(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
    all();
    all();
    return 0;
}
