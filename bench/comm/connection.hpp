// Two ranks that exchange messages, in two ways with the same interface: FULT's tasks, and MPI with kernel
// threads. FULT_BENCH_MPI, the name of the MPI, selects one when a program is compiled.
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

#ifdef FULT_BENCH_MPI
#include "comm/mpi_connection.hpp"
#else
#include "comm/fult_connection.hpp"
#endif
