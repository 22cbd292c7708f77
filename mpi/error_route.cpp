#include "error_route.hpp"

#include <utility>

#include <fult/detail/assertion.hpp>

#include "below.hpp"

namespace fult::mpi {
namespace {

#ifdef MPICH_VERSION
constexpr bool passes_to_world = true;
#else
constexpr bool passes_to_world = false;
#endif

bool was_called = false; // under the entry_lock

void note(MPI_Comm *, int *, ...) noexcept { was_called = true; }

MPI_Errhandler noting_handler() noexcept {
    static const MPI_Errhandler one = [] {
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;
        FULT_BELOW(Comm_create_errhandler)(&note, &made);
        return made;
    }();
    return one;
}

} // namespace

error_route::error_route(bool returned) noexcept : is_active_(returned && passes_to_world) {
    if (is_active_)
        take_place();
}

error_route::~error_route() {
    if (is_active_)
        restore();
}

void error_route::take_place() noexcept {
    FULT_ASSERT(of_program_ == MPI_ERRHANDLER_NULL);
    FULT_BELOW(Comm_get_errhandler)(MPI_COMM_WORLD, &of_program_);
    FULT_BELOW(Comm_set_errhandler)(MPI_COMM_WORLD, noting_handler());
    was_called = false;
}

void error_route::restore() noexcept {
    FULT_BELOW(Comm_set_errhandler)(MPI_COMM_WORLD, of_program_);
    FULT_BELOW(Errhandler_free)(&of_program_);
    of_program_ = MPI_ERRHANDLER_NULL;
}

void error_route::forward_slowly(int code, const call_facts &facts) noexcept {
    if (!std::exchange(was_called, false))
        return;
    restore();
    FULT_BELOW(Comm_call_errhandler)(facts.has_comm ? facts.comm : MPI_COMM_WORLD, code);
    take_place();
}

} // namespace fult::mpi
