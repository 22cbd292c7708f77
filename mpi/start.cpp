// MPI_Init and MPI_Finalize, and what the program learns about threads.
#include "engine.hpp"
#include "level.hpp"
#include "own.hpp"

namespace fult::mpi::own {

int Init(int *argc, char ***argv) { return begin_mpi(argc, argv, MPI_THREAD_SINGLE, nullptr); }

int Init_thread(int *argc, char ***argv, int required, int *provided) {
    return begin_mpi(argc, argv, required, provided);
}

int Query_thread(int *provided) {
    *provided = asked_level();
    return MPI_SUCCESS;
}

int Finalize(void) { return end_mpi(); }

#if MPI_VERSION >= 4
int Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) {
    the_engine().errors_may_return(); // by the handler
    return begin_session(info, errhandler, session);
}
#endif

} // namespace fult::mpi::own
