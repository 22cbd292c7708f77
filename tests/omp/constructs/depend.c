// depend: in, out, inout, mutexinoutset, depend objects, with if(0), and taskwait with depend.
#include <omp.h>

#include "check.h"

static void chain(void) {
    int x = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 5000; ++i) {
#pragma omp task depend(inout : x) shared(x) firstprivate(i)
        {
            CHECK(x == i);
            x = i + 1;
        }
    }
    CHECK(x == 5000);
}

static void readers(void) {
    for (int round = 0; round < 100; ++round) {
        int x = 0, y = 0, read = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task depend(out : x) shared(x)
            x = 1;
            for (int i = 0; i < 10; ++i) {
#pragma omp task depend(in : x) shared(x, read)
                {
                    CHECK(x == 1);
#pragma omp atomic
                    ++read;
                }
            }
#pragma omp task depend(inout : x) depend(out : y) shared(x, y, read)
            {
                CHECK(read == 10);
                x = 2;
                y = 3;
            }
#pragma omp task depend(in : x, y) shared(x, y)
            CHECK(x == 2 && y == 3);
        }
    }
}

// An address several times in one task, in each order, between others that write it.
static void repeated(void) {
    int x = 0, y = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2000; i += 4) {
#pragma omp task depend(out : x) depend(out : x) depend(out : x) shared(x) firstprivate(i)
        {
            CHECK(x == i);
            x = i + 1;
        }
#pragma omp task depend(in : x, x) depend(inout : x) depend(in : x) shared(x) firstprivate(i)
        {
            CHECK(x == i + 1);
            x = i + 2;
        }
#pragma omp task depend(inout : x, y, x, y) shared(x, y) firstprivate(i)
        {
            CHECK(x == i + 2);
            x = i + 3;
            y = i;
        }
#pragma omp task depend(in : y, y, y) depend(out : x, x) shared(x, y) firstprivate(i)
        {
            CHECK(x == i + 3 && y == i);
            x = i + 4;
        }
    }
    CHECK(x == 2000);
}

// Many addresses, most of which are used once; some tasks have a long list.
static void many_addresses(void) {
    enum { count = 20000 };
    static int cells[count + 20];
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
            int *const c = &cells[i];
#pragma omp task depend(out : c[0])
            c[0] = i;
            if (i % 100 == 99) {
#pragma omp task depend(in                                                                             \
                        : c[0], c[-1], c[-2], c[-3], c[-4], c[-5], c[-6], c[-7], c[-8], c[-9], c[-10], \
                          c[-11], c[-12], c[-13], c[-14], c[-15], c[-16], c[-17], c[-18], c[-19])      \
    depend(out                                                                                         \
           : c[1])
                for (int j = 0; j < 20; ++j)
                    CHECK(c[-j] == i - j);
            }
        }
    }
}

static void exclusive(void) {
    int sum = 0, inside = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : sum) shared(sum)
        sum = 100;
        for (int i = 0; i < 100; ++i) {
#pragma omp task depend(mutexinoutset : sum) shared(sum, inside)
            {
                CHECK(++inside == 1);
                sum += 1;
                --inside;
            }
        }
#pragma omp task depend(in : sum) shared(sum)
        CHECK(sum == 200);
    }
}

static void objects(void) {
    int x = 0, y = 0;
    omp_depend_t out, in;
#pragma omp depobj(out) depend(out : x)
#pragma omp depobj(in) depend(in : x)
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; ++i) {
#pragma omp task depend(depobj : out) shared(x)
        ++x;
#pragma omp task depend(depobj : in) depend(out : y) shared(x, y) firstprivate(i)
        {
            CHECK(x == i + 1);
            y = x;
        }
    }
    CHECK(x == 200 && y == 200);
#pragma omp depobj(out) update(inout)
#pragma omp depobj(out) destroy
#pragma omp depobj(in) destroy
}

static void undeferred(void) {
    for (int round = 0; round < 200; ++round) {
        int x = 0, slow = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task depend(out : x) shared(x)
            {
#pragma omp taskyield
                x = 1;
            }
#pragma omp task shared(slow)
#pragma omp atomic write
            slow = 1;
#pragma omp task depend(in : x) if (0) shared(x)
            CHECK(x == 1);
#pragma omp task depend(inout : x) shared(x)
            x = 2;
#pragma omp taskwait depend(in : x)
            CHECK(x == 2);
        }
        CHECK(slow == 1);
    }
}

// A grid: each task needs its neighbours above and to the left.
static void grid(void) {
    enum { n = 40 };
    static int a[n][n];
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const int above = i ? i - 1 : 0, left = j ? j - 1 : 0;
#pragma omp task depend(in : a[above][j], a[i][left]) depend(out : a[i][j]) firstprivate(i, j)
            a[i][j] = i == 0 || j == 0 ? 1 : (a[i - 1][j] + a[i][j - 1]) % 1000003;
        }
    int b[n][n];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            b[i][j] = i == 0 || j == 0 ? 1 : (b[i - 1][j] + b[i][j - 1]) % 1000003;
            CHECK(a[i][j] == b[i][j]);
        }
}

// The tables of a task's children end with the task; its children may still run.
static void nested(void) {
    int ended = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; ++i) {
#pragma omp task shared(ended)
        {
            static int x[4];
            for (int j = 0; j < 10; ++j) {
#pragma omp task depend(inout : x[j % 4]) shared(ended)
#pragma omp atomic
                ++ended;
            }
        }
    }
    CHECK(ended == 2000);
}

static void iterators(void) {
    int v[10] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(out : v[i]) shared(v)
            v[i] = i;
        }
#pragma omp task depend(iterator(i = 0 : 10), in : v[i]) shared(v, sum)
        for (int i = 0; i < 10; ++i)
            sum += v[i];
        for (int n = 2; n >= 0; --n) { // 0: no dependences
#pragma omp task depend(iterator(i = 0 : n), inout : v[i])
            {}
#pragma omp taskwait depend(iterator(i = 0 : n), in : v[i])
        }
    }
    CHECK(sum == 45);
}

int main(void) {
    chain();
    readers();
    repeated();
    many_addresses();
    exclusive();
    objects();
    undeferred();
    grid();
    nested();
    iterators();
    return 0;
}
