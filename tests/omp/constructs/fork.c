// A process that has used OpenMP forks; the child uses it, too, and so does a child of a pthread.
// libraries: -pthread
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int fib(int n) {
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void use(void) {
    int sum = 0, result = 0;
#pragma omp parallel reduction(+ : sum)
    ++sum;
    CHECK(sum >= 1 && sum <= omp_get_max_threads());
#pragma omp parallel
#pragma omp single
    result = fib(15);
    CHECK(result == 610);
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; ++i) {
#pragma omp atomic
            ++sum;
        }
#pragma omp barrier
    }
    CHECK(sum > 100);
}

static void *in_child(void *unused) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        use();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return unused;
}

static int stop;

// Regions of changing sizes, which take and give teams and threads.
static void *keep_opening(void *unused) {
    for (int i = 0, ended = 0; !ended; i++) {
        int sum = 0;
#pragma omp parallel num_threads(1 + i % 3) reduction(+ : sum)
        {
            omp_set_dynamic(i % 2);
            ++sum;
        }
        CHECK(sum >= 1 && sum <= 3);
#pragma omp atomic read
        ended = stop;
    }
    return unused;
}

// A child is made at any moment in the regions of other threads.
static void fork_beside_regions(void) {
    enum { openers = 2, forks = 60 };
    pthread_t threads[openers];
    for (int i = 0; i < openers; i++)
        CHECK(pthread_create(&threads[i], NULL, keep_opening, NULL) == 0);
    for (int i = 0; i < forks; i++)
        in_child(NULL);
#pragma omp atomic write
    stop = 1;
    for (int i = 0; i < openers; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
    use();
    in_child(NULL);
    use();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_child, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    use();
    fork_beside_regions();
    const pid_t child = fork(); // ends by exit
    if (child == 0) {
        use();
        exit(3);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return 0;
}
