/* Checks of the tests in C: they go on, and main returns how many failed. */
#ifndef FULT_TESTS_CHECK_H
#define FULT_TESTS_CHECK_H

#include <stdio.h>

static int failures;
#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                     \
        }                                                                   \
    } while (0)

#endif
