// A program without OpenMP loads a library that uses it, which is this file again.
// libraries: -ldl -pthread
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#ifdef AS_LIBRARY
int sum_of_members(void) {
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        ++sum;
#pragma omp task
        {}
    }
    return sum;
}
#else
static void *in_thread(void *function) {
    int (*sum)(void);
    memcpy(&sum, &function, sizeof sum);
    CHECK(sum() == 4);
    return NULL;
}

static void build(const char *path) {
    char command[1000];
    snprintf(command, sizeof command, "%s -DAS_LIBRARY -O1 -fopenmp -shared -fPIC -o %s %s",
#ifdef __clang__
             "clang",
#else
             "gcc",
#endif
             path, __FILE__);
    CHECK(system(command) == 0);
}

// OpenMP is part of this program's compilation, but not of its link if nothing refers to it.
int main(void) {
    char path[] = "/tmp/fult-omp-loaded-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    build(path);
    for (int in_pthread = 0; in_pthread < 2; ++in_pthread) {
        const pid_t child = fork();
        if (child == 0) {
            for (int round = 0; round < 3; ++round) {
                void *const library = dlopen(path, RTLD_NOW);
                if (!library)
                    fprintf(stderr, "%s\n", dlerror());
                CHECK(library);
                void *const function = dlsym(library, "sum_of_members");
                CHECK(function);
                pthread_t thread;
                if (in_pthread) {
                    CHECK(pthread_create(&thread, NULL, in_thread, function) == 0);
                    CHECK(pthread_join(thread, NULL) == 0);
                } else {
                    in_thread(function);
                }
                CHECK(dlclose(library) == 0);
            }
            exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    unlink(path);
    return 0;
}
#endif
