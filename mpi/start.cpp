// MPI_Init and MPI_Finalize, and what the program learns about threads.
#include <fult/detail/platform.hpp>

#include "engine.hpp"
#include "level.hpp"

using namespace fult::mpi;

FULT_API int MPI_Init(int *argc, char ***argv) { return begin_mpi(argc, argv, MPI_THREAD_SINGLE, nullptr); }

FULT_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    return begin_mpi(argc, argv, required, provided);
}

FULT_API int MPI_Query_thread(int *provided) {
    *provided = asked_level();
    return MPI_SUCCESS;
}

FULT_API int MPI_Finalize(void) { return end_mpi(); }

#if MPI_VERSION >= 4
FULT_API int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) {
    the_engine().errors_may_return(); // by the handler
    return begin_session(info, errhandler, session);
}
#endif
