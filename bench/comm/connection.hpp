// Two ranks that exchange messages, in three ways with the same interface: FULT's tasks, MPI with kernel
// threads, and MPI with tasks. FULT_BENCH_MPI, the name of the MPI, selects MPI when a program is compiled,
// and FULT_BENCH_MPI_TASKS the tasks.
//
//   connection here(threads);             threads: several tasks of a rank use it at once
//   here.rank()                     0 or 1
//   here.send(data, size, tag)      to the other rank, blocking; recv, isend and irecv alike
//   connection::wait_all(requests)        those of isend and irecv
//   here.use_wildcards()            receives take messages of any source from now on
//   here.tasks(n, f)                f(0) ... f(n - 1) at once; returns when all are done
//   here.agree(value)               rank 0's value, on both
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#ifdef FULT_BENCH_MPI_TASKS
#include "mpi/task_connection.hpp"
#elif defined FULT_BENCH_MPI
#include "comm/mpi_connection.hpp"
namespace bench {
using connection = mpi_connection;
}
#else
#include "comm/fult_connection.hpp"
#endif
