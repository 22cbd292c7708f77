// Prints the OpenMP libraries that are in the process after a region, and whether the loader heeded the
// environment. loading_test.py compiles it in many ways. With an argument, it first loads that file for
// itself alone (RTLD_DEEPBIND).
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef MEMBERS
#define MEMBERS members
#endif

int MEMBERS(void) {
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    ++sum;
    return sum;
}

#ifndef AS_LIBRARY
#ifdef OTHER
int OTHER(void);
#endif

static void *nothing(void *unused) { return unused; }

// A thread with the smallest stack, beside what the loader takes of it for thread-local variables.
static int starts_small_thread(void) {
    pthread_attr_t small;
    pthread_t thread;
    return pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 16384) == 0 &&
           pthread_create(&thread, &small, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

int main(int count, char **arguments) {
    int (*called)(void) = MEMBERS;
    if (count > 1) {
        void *const library = dlopen(arguments[1], RTLD_NOW | RTLD_DEEPBIND);
        void *const function = library ? dlsym(library, "members_of_library") : NULL;
        if (!function) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        memcpy(&called, &function, sizeof called);
    }
    if (called() != 3 || MEMBERS() != 3)
        return 2;
#ifdef OTHER
    if (OTHER() != 3)
        return 3;
#endif
    if (!starts_small_thread())
        return 4;
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 200], last[PATH_MAX + 200] = "";
    while (maps && fgets(line, sizeof line, maps)) {
        char *const path = strchr(line, '/'), *const name = strrchr(line, '/');
        const int is_one = name && (strncmp(name, "/libgomp", 8) == 0 || strncmp(name, "/libomp", 7) == 0);
        if (is_one && strcmp(path, last) != 0)
            fputs(strcpy(last, path), stdout);
    }
    printf("secure %d\n", getauxval(AT_SECURE) != 0);
    return 0;
}
#endif
