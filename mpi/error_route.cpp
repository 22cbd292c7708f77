#include "error_route.hpp"

#include <cstring>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "below.hpp"

namespace fult::mpi {
namespace {

#if defined MPICH_VERSION
constexpr bool passes_to_world() noexcept { return true; }
#elif defined OPEN_MPI
constexpr bool passes_to_world() noexcept { return false; }
#else // the standard's interface, behind which any MPI may be
bool passes_to_world() noexcept {
    static const bool is_mpich = [] {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        FULT_BELOW(Get_library_version)(text, &length);
        return std::strstr(text, "MPICH") != nullptr;
    }();
    return is_mpich;
}
#endif

bool was_called = false; // under the entry_lock

void record_call(MPI_Comm *, int *, ...) noexcept { was_called = true; }

MPI_Errhandler recording_handler() noexcept {
    static const MPI_Errhandler one = [] {
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;
        FULT_BELOW(Comm_create_errhandler)(&record_call, &made);
        return made;
    }();
    return one;
}

} // namespace

error_route::error_route(bool returned) noexcept : is_active_(returned && passes_to_world()) {
    if (is_active_)
        install();
}

error_route::~error_route() {
    if (is_active_)
        restore();
}

void error_route::install() noexcept {
    FULT_ASSERT(program_handler_ == MPI_ERRHANDLER_NULL);
    FULT_BELOW(Comm_get_errhandler)(MPI_COMM_WORLD, &program_handler_);
    FULT_BELOW(Comm_set_errhandler)(MPI_COMM_WORLD, recording_handler());
    was_called = false;
}

void error_route::restore() noexcept {
    FULT_BELOW(Comm_set_errhandler)(MPI_COMM_WORLD, program_handler_);
    FULT_BELOW(Errhandler_free)(&program_handler_);
    program_handler_ = MPI_ERRHANDLER_NULL;
}

void error_route::forward_slowly(int code, const call_facts &facts) noexcept {
    if (!std::exchange(was_called, false))
        return;
    restore();
    FULT_BELOW(Comm_call_errhandler)(facts.has_comm ? facts.comm : MPI_COMM_WORLD, code);
    install();
}

} // namespace fult::mpi
