// For the programs of this folder: the first condition that does not hold ends the program with status 1.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define CHECK(CONDITION)                                                        \
    do {                                                                        \
        if (!(CONDITION)) {                                                     \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #CONDITION); \
            _Exit(1);                                                           \
        }                                                                       \
    } while (0)
