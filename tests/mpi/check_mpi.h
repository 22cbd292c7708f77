/* CHECK(condition) ends the whole job with a message if it does not hold. */
#ifndef FULT_TESTS_CHECK_MPI_H
#define FULT_TESTS_CHECK_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                             \
        }                                                                             \
    } while (0)

#define CHECK_MPI(call) CHECK((call) == MPI_SUCCESS)

#endif
