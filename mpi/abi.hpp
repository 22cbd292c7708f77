// The MPI for which this copy of the layer is compiled: the sources are the same for all.
#pragma once

// without the C++ bindings, which were removed from the standard
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
