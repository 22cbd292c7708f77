#include "level.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>

#include "below.hpp"
#include "engine.hpp"
#include "options.hpp"
#include "progress_service.hpp"

namespace fult::mpi {
namespace {

constexpr int unknown = -1;
static_assert(MPI_THREAD_SINGLE != unknown && MPI_THREAD_MULTIPLE > MPI_THREAD_SERIALIZED);

std::atomic<int> required_level{unknown}; // by a call of MPI_Init or MPI_Init_thread that came here
std::atomic<int> provided_level{unknown};

int level_of_mpi() noexcept {
    int level = provided_level.load(std::memory_order_relaxed);
    if (level == unknown) { // started in another way, such as by Fortran
        FULT_BELOW(Query_thread)(&level);
        provided_level.store(level, std::memory_order_relaxed);
    }
    return level;
}

} // namespace

int begin_mpi(int *argc, char ***argv, int asked, int *given) noexcept {
    the_options(); // reports those that are wrong
    // MPI_THREAD_SERIALIZED would do for what is called under the lock; calls that run apart, and functions
    // that the layer does not know, need more.
    int level = unknown;
    const int code = FULT_BELOW(Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &level);
    if (code != MPI_SUCCESS)
        return code;
    if (level < MPI_THREAD_SERIALIZED) {
        std::fprintf(
            stderr,
            "fult-mpi: this MPI lets one thread call it only (level %d of MPI_Init_thread); use one that is "
            "built with support of threads\n",
            level);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    required_level.store(asked, std::memory_order_relaxed);
    provided_level.store(level, std::memory_order_relaxed);
    if (given)
        *given = asked;
    return code;
}

int end_mpi() noexcept {
    the_progress_service().remove();
    const engine::entry here(the_engine());
    if (statistics::is_wanted()) {
        int rank = 0;
        FULT_BELOW(Comm_rank)(MPI_COMM_WORLD, &rank);
        the_engine().counters().print(rank);
    }
    return FULT_BELOW(Finalize)();
}

#if MPI_VERSION >= 4
int begin_session(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) noexcept {
    MPI_Info with_level = MPI_INFO_NULL;
    int code = info == MPI_INFO_NULL ? FULT_BELOW(Info_create)(&with_level)
                                     : FULT_BELOW(Info_dup)(info, &with_level);
    if (code != MPI_SUCCESS)
        return code;
    FULT_BELOW(Info_set)(with_level, "thread_level", "MPI_THREAD_MULTIPLE");
    code = FULT_BELOW(Session_init)(with_level, handler, session);
    FULT_BELOW(Info_free)(&with_level);
    if (code == MPI_SUCCESS && provided_level.load(std::memory_order_relaxed) == unknown)
        provided_level.store(MPI_THREAD_MULTIPLE, std::memory_order_relaxed);
    return code;
}
#endif

int asked_level() noexcept {
    const int level = required_level.load(std::memory_order_relaxed);
    return level == unknown ? level_of_mpi() : level;
}

bool is_multiple() noexcept { return level_of_mpi() == MPI_THREAD_MULTIPLE; }

void refuse_in_task(const char *call) noexcept {
    fult::detail::misuse(
        call, "it has no nonblocking form, and this MPI does not give MPI_THREAD_MULTIPLE, so it would stop "
              "the worker with all its tasks; call it from a thread outside the runtime, or before the "
              "first task");
}

} // namespace fult::mpi
