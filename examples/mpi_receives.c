/* On each of two ranks 10,000 OpenMP tasks, on two threads, that all wait in MPI_Recv. With MPI alone two of
   them would block both threads for good. mpirun -n 2 fult-mpi ./mpi_receives */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    const int tasks = count > 1 ? atoi(arguments[1]) : 10000;
    int rank = 0, right = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int other = 1 - rank;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i)
#pragma omp task firstprivate(i) shared(right)
        {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (got == i)
#pragma omp atomic
                ++right;
        }
        for (int i = tasks - 1; i >= 0; --i) /* the last task gets its message first */
            MPI_Send(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD);
    }
    printf("rank %d: %d tasks received\n", rank, right);
    MPI_Finalize();
    return right == tasks ? 0 : 1;
}
