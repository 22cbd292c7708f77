// The calls that no pattern of wrappers.py fits: written by hand, and named by it MPI_... and PMPI_...
#pragma once

#include "abi.hpp"

namespace fult::mpi::own {

decltype(PMPI_Init) Init;
decltype(PMPI_Init_thread) Init_thread;
decltype(PMPI_Query_thread) Query_thread;
decltype(PMPI_Finalize) Finalize;
decltype(PMPI_Wait) Wait;
decltype(PMPI_Waitall) Waitall;
decltype(PMPI_Waitany) Waitany;
decltype(PMPI_Waitsome) Waitsome;
decltype(PMPI_Sendrecv) Sendrecv;
decltype(PMPI_Sendrecv_replace) Sendrecv_replace;
decltype(PMPI_Probe) Probe;
decltype(PMPI_Mprobe) Mprobe;
#if MPI_VERSION >= 4
decltype(PMPI_Sendrecv_c) Sendrecv_c;
decltype(PMPI_Session_init) Session_init;
#endif

// Open MPI 4.1 exchanges the blocks to a neighbor that is both below and above, on a ring of one or two
// ranks: not in MPI_Neighbor_alltoall, but in MPI_Ineighbor_alltoall and its forms. False with other MPIs.
bool has_a_neighbor_twice(MPI_Comm comm) noexcept;

// The program has made a persistent request of a collective operation. MPICH 4.0 reports an error, which
// there is not, where MPI_Testall finds such a one complete.
void made_a_persistent_collective() noexcept;

} // namespace fult::mpi::own
