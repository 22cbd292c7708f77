// The initial thread ends by pthread_exit. The process ends, with status 0, when the last thread of the
// program does.
// libraries: -pthread
// arguments: never before plain late
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static pthread_t initial;
static const char *form = "";
static int pipe_ends[2];

static void region(void) {
    int there = 0;
#pragma omp parallel num_threads(3) reduction(+ : there)
    {
        ++there;
#pragma omp task
        {}
    }
    CHECK(there == 3);
}

static int is(const char *name) { return strcmp(form, name) == 0; }

static void at_exit(void) { CHECK(write(pipe_ends[1], "e", 1) == 1); }

static void *last(void *unused) {
    CHECK(pthread_join(initial, NULL) == 0);
    if (is("late")) // it is the first to start threads
        region();
    CHECK(write(pipe_ends[1], "l", 1) == 1);
    return unused;
}

static void *other(void *unused) {
    CHECK(pthread_join(initial, NULL) == 0);
    for (int i = 0; i < 5; i++)
        region();
    if (is("plain")) { // a thread without OpenMP is the last
        pthread_t t;
        initial = pthread_self();
        CHECK(pthread_create(&t, NULL, last, NULL) == 0);
        return unused;
    }
    CHECK(write(pipe_ends[1], "l", 1) == 1);
    return unused;
}

static void *once(void *unused) {
    region();
    return unused;
}

static void in_child(void) {
    pthread_t t;
    CHECK(atexit(at_exit) == 0);
    initial = pthread_self();
    if (is(""))
        region();
    if (is("before")) { // the only other thread that uses OpenMP has ended
        CHECK(pthread_create(&t, NULL, once, NULL) == 0 && pthread_join(t, NULL) == 0);
        CHECK(write(pipe_ends[1], "l", 1) == 1);
        pthread_exit(NULL);
    }
    CHECK(pthread_create(&t, NULL, is("late") ? last : other, NULL) == 0);
    pthread_exit(NULL);
}

int main(int argc, char **argv) {
    if (argc > 1)
        form = argv[1];
    for (int round = 0; round < 3; round++) {
        char seen[3] = "";
        CHECK(pipe(pipe_ends) == 0);
        const pid_t child = fork();
        if (child == 0)
            in_child(); // does not return
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        close(pipe_ends[1]);
        CHECK(read(pipe_ends[0], seen, 3) == 2 && seen[0] == 'l' && seen[1] == 'e');
        close(pipe_ends[0]);
    }
    return 0;
}
