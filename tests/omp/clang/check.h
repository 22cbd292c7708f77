/* A test of one construct: exits with 1 at the first expectation that does not hold. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                            \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)
