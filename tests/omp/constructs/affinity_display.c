// Where threads are shown, and in which format by default: as the compiler's own library does. The program
// runs itself.
#include <omp.h>
#include <string.h>

#include "check.h"

#if defined(__clang__)
static const char default_format[] = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";
static const char other_stream[] = "2>&1 >/dev/null", its_stream[] = "2>/dev/null";
#else
static const char default_format[] = "level %L thread %i affinity %A";
static const char other_stream[] = "2>/dev/null", its_stream[] = "2>&1 >/dev/null";
#endif

static int lines_of(const char *self, const char *arguments, const char *stream) {
    char command[4096], line[1024];
    snprintf(command, sizeof command, "'%s' %s %s", self, arguments, stream);
    FILE *out = popen(command, "r");
    CHECK(out);
    int lines = 0;
    while (fgets(line, sizeof line, out))
        ++lines;
    CHECK(pclose(out) == 0);
    return lines;
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "region") == 0) {
#pragma omp parallel num_threads(3)
        CHECK(omp_get_num_threads() == 3);
        return 0;
    }
    if (count > 1) {
        omp_display_affinity("%n of %N");
        return 0;
    }
    char format[256];
    CHECK(omp_get_affinity_format(format, sizeof format) == strlen(default_format));
    CHECK(strcmp(format, default_format) == 0);
    CHECK(lines_of(arguments[0], "call", its_stream) == 1);
    CHECK(lines_of(arguments[0], "call", other_stream) == 0);
    setenv("OMP_DISPLAY_AFFINITY", "true", 1);
    CHECK(lines_of(arguments[0], "region", its_stream) == 3);
    CHECK(lines_of(arguments[0], "region", other_stream) == 0);
    setenv("OMP_AFFINITY_FORMAT", "%n", 1);
    CHECK(lines_of(arguments[0], "region", its_stream) == 3);
    omp_set_affinity_format("%N");
    CHECK(omp_get_affinity_format(format, sizeof format) == 2 && strcmp(format, "%N") == 0);
    return 0;
}
