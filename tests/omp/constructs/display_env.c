// OMP_DISPLAY_ENV: once when the program starts, each variable of OpenMP 5.1 with its value, and the version
// of the compiler's own option. The program runs itself.
#include <omp.h>
#include <string.h>

#include "check.h"

#if defined(__clang__)
static const char *const versions[] = {"201811", "201611"}; // clang's own library says 201611
#else
static const char *const versions[] = {"201511", "201511"};
#endif

static char text[1 << 16];

// What the program itself says, without spaces.
static void read_output(const char *self, const char *environment, const char *argument) {
    char command[4096];
    snprintf(command, sizeof command, "%s '%s' %s 2>&1 | tr -d ' '", environment, self, argument);
    FILE *const out = popen(command, "r");
    CHECK(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    CHECK(pclose(out) == 0);
}
static int count(const char *what) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); ++at)
        ++n;
    return n;
}

int main(int words, char **arguments) {
    if (words > 1) {
        CHECK(omp_get_max_threads() > 0); // libomp starts at the first call
        if (strcmp(arguments[1], "show") == 0)
            omp_display_env(0);
        return 0;
    }
    CHECK(unsetenv("OMP_NUM_THREADS") == 0);
    read_output(arguments[0], "OMP_DISPLAY_ENV=true", "silent");
    CHECK(count("OPENMPDISPLAYENVIRONMENTBEGIN\n") == 1 && count("OPENMPDISPLAYENVIRONMENTEND\n") == 1);
    CHECK(count("_OPENMP='") == 1 && (count(versions[0]) == 1 || count(versions[1]) == 1));
    static const char *const names[] = {
        "OMP_DYNAMIC",         "OMP_NESTED",         "OMP_NUM_THREADS",      "OMP_SCHEDULE",
        "OMP_PROC_BIND",       "OMP_PLACES",         "OMP_STACKSIZE",        "OMP_WAIT_POLICY",
        "OMP_THREAD_LIMIT",    "OMP_NUM_TEAMS",      "OMP_TEAMS_THREAD",     "OMP_CANCELLATION",
        "OMP_DEFAULT_DEVICE",  "OMP_ALLOCATOR",      "OMP_MAX_TASK_PRIO",    "OMP_DISPLAY_AFFINITY",
        "OMP_AFFINITY_FORMAT", "OMP_TARGET_OFFLOAD", "OMP_MAX_ACTIVE_LEVELS"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (count(names[i]) != 1) {
            fprintf(stderr, "%s is there %d times:\n%s", names[i], count(names[i]), text);
            return 1;
        }
    CHECK(count("=DEFAULT") + count("='DEFAULT'") == 1);
    read_output(arguments[0], "OMP_DISPLAY_ENV=false", "silent");
    CHECK(*text == '\0');
    read_output(arguments[0], "OMP_DISPLAY_ENV=true", "show");
    CHECK(count("BEGIN\n") == 2);
    read_output(arguments[0],
                "OMP_TARGET_OFFLOAD=disabled OMP_NUM_THREADS=3 OMP_MAX_ACTIVE_LEVELS=4 "
                "OMP_STACKSIZE=5M OMP_DISPLAY_ENV=verbose",
                "silent");
    CHECK(count("=DISABLED") + count("TARGET_OFFLOAD='DISABLED'") == 1);
    CHECK(count("OMP_NUM_THREADS='3'") == 1 && count("OMP_MAX_ACTIVE_LEVELS='4'") == 1);
    CHECK(count("OMP_STACKSIZE='5M'") + count("OMP_STACKSIZE='5242880'") >= 1);
    read_output(arguments[0], "OMP_TARGET_OFFLOAD=elsewhere", "silent");
    CHECK(count("OMP_TARGET_OFFLOAD") >= 1);
    return 0;
}
