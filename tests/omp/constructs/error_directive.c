// error at(execution): a warning goes on, a fatal error ends the program with status 1.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void end_in_error(const char *text) {
#pragma omp error at(execution) severity(warning)
#pragma omp error at(execution) severity(warning) message(text)
#pragma omp error at(execution) message("the last")
    _Exit(0);
}

int main(void) {
    int ends[2], status = 0;
    char said[1000] = "";
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        end_in_error("a warning");
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(read(ends[0], said, sizeof said - 1) > 0);
    CHECK(strstr(said, ": error directive encountered\n"));
    CHECK(strstr(said, ": error directive encountered: a warning\n"));
    CHECK(strstr(said, "fatal error: error directive encountered: the last"));
    return 0;
}
