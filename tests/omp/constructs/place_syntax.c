// What OMP_PLACES and OMP_DISPLAY_AFFINITY mean: the program runs itself with many values.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const struct {
    const char *value, *places; // of processors 0 and 1
} texts[] = {{"{0},{1}", "{0}{1}"},
             {"{1} , {0}", "{1}{0}"},
             {"{0:2}", "{0,1}"},
             {"{0}:2", "{0}{1}"},
             {"{1}:2:-1", "{1}{0}"},
             {"{1:2:-1}", "{0,1}"},
             {"0,1", "{0}{1}"},
             {"{0},{0,1}", "{0}{0,1}"},
             {"{0,1,!1}", "{0}"},
             {"{0},{1},!{0}", "{1}"},
             {"{0}:2,{1}", "{0}{1}{1}"},
             {"threads", "{0}{1}"},
             {" THREADS ( 1 ) ", "{0}"},
             {"threads(9)", "{0}{1}"},
             {"{1000}", ""}, // does not exist
             // mistakes
             {"!{0},{0}", ""},
             {"{0:2:-1}", ""},
             {"{0}}", ""},
             {"{0", ""},
             {"{}", ""},
             {"", ""},
             {"{0},", ""},
             {"{0:0}", ""},
             {"threads(0)", ""},
             {"threads(1", ""},
             {"chairs", ""},
             {"{0} {1}", ""}};

static const struct {
    const char *value, *places;
} processor_lists[] = {{"0 1", "{0}{1}"}, {"1,0", "{1}{0}"}, {"0-1", "{0}{1}"}, {"0-1:1 0", "{0}{1}{0}"},
                       {"0-9:2", "{0}"},  {"1-0", ""},       {"", ""},          {"0-", ""},
                       {"0:0", ""},       {"0;1", ""}};

static int show(void) {
    int ids[CPU_SETSIZE];
    for (int p = 0; p < omp_get_num_places(); p++) {
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < omp_get_place_num_procs(p); i++)
            printf("%s%d", i ? "," : "{", ids[i]);
        printf("}");
    }
    return 0;
}

// Displayed: the first region of 2 threads, that of 3, and the first of 2 after it.
static int show_affinity(void) {
    for (int i = 0; i < 5; i++)
#pragma omp parallel num_threads(i == 2 ? 3 : 2)
        CHECK(omp_get_num_threads() == (i == 2 ? 3 : 2));
    return 0;
}

// The first line of the output of this program with an argument.
static void run_self(const char *self, const char *argument, char *into, int size) {
    char command[4096];
    snprintf(command, sizeof command, "'%s' %s", self, argument);
    FILE *out = popen(command, "r");
    CHECK(out);
    into[0] = '\0';
    CHECK(fgets(into, size, out) || into[0] == '\0');
    CHECK(pclose(out) == 0);
}

static int has_processors_0_and_1(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 2 && CPU_ISSET(0, &set) &&
           CPU_ISSET(1, &set);
}

int main(int count, char **arguments) {
    if (count > 1)
        return strcmp(arguments[1], "show") == 0 ? show() : show_affinity();
    char text[1024];
    // before a region binds this thread
    if (has_processors_0_and_1())
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            setenv("OMP_PLACES", texts[i].value, 1);
            run_self(arguments[0], "show 2>/dev/null", text, sizeof text);
            if (strcmp(text, texts[i].places) != 0)
                fprintf(stderr, "OMP_PLACES='%s': %s instead of %s\n", texts[i].value, text, texts[i].places);
            CHECK(strcmp(text, texts[i].places) == 0);
        }
    // what is not understood is named
    setenv("OMP_PLACES", "chairs", 1);
    run_self(arguments[0], "show 2>&1 >/dev/null", text, sizeof text);
    CHECK(strstr(text, "OMP_PLACES=chairs is not understood"));
    unsetenv("OMP_PLACES");
    if (has_processors_0_and_1())
        for (size_t i = 0; i < sizeof processor_lists / sizeof *processor_lists; i++) {
            setenv("GOMP_CPU_AFFINITY", processor_lists[i].value, 1);
            run_self(arguments[0], "show 2>/dev/null", text, sizeof text);
            CHECK(strcmp(text, processor_lists[i].places) == 0);
        }
    setenv("GOMP_CPU_AFFINITY", "all", 1);
    run_self(arguments[0], "show 2>&1 >/dev/null", text, sizeof text);
    CHECK(strstr(text, "GOMP_CPU_AFFINITY=all is not understood"));
    unsetenv("GOMP_CPU_AFFINITY");
    setenv("OMP_PLACES", "threads", 1);
    setenv("OMP_DISPLAY_AFFINITY", "true", 1);
    setenv("OMP_AFFINITY_FORMAT", "of %N", 1);
    run_self(arguments[0], "affinity 2>&1 | sort | uniq -c | tr -s ' \\n' ' '", text, sizeof text);
    CHECK(strcmp(text, " 4 of 2 3 of 3 ") == 0);
    setenv("OMP_DISPLAY_AFFINITY", "false", 1);
    run_self(arguments[0], "affinity 2>&1", text, sizeof text);
    CHECK(text[0] == '\0');
    return 0;
}
