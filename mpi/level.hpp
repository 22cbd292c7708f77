// The level of thread support that MPI gives to the layer, and the one that the program has asked for.
#pragma once

#include "abi.hpp"

namespace fult::mpi {

// Starts MPI with as many threads as it allows. The program is given what it asks for: the layer lets every
// task and thread call MPI at any time. Ends the program if MPI allows one thread only.
int begin_mpi(int *argc, char ***argv, int asked, int *given) noexcept;
int end_mpi() noexcept;
#if MPI_VERSION >= 4
// The same for a session.
int begin_session(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) noexcept;
#endif
// As MPI_Query_thread answers the program.
int asked_level() noexcept;

// MPI itself lets several threads be in it at the same time.
bool is_multiple() noexcept;

// Ends the program: the call would stop all tasks of its worker.
[[noreturn]] void refuse_in_task(const char *call) noexcept;

} // namespace fult::mpi
