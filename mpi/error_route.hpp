// Errors at the end of a request, for the handler of its communicator.
//
// MPICH 4.0 passes the error of a receive that MPI_Irecv has started to the handler of MPI_COMM_WORLD, where
// MPI_Recv passes it to that of the communicator. So while requests are tested, the layer takes the place of
// that handler, and passes the error on.
#pragma once

#include "abi.hpp"
#include "facts.hpp"

namespace fult::mpi {

// In a scope in which requests of operations are tested. Under the entry_lock.
class error_route {
  public:
    // `returned`: the program may get errors back. Else each ends the job, and it does not matter by which
    // handler.
    explicit error_route(bool returned) noexcept;
    ~error_route();
    error_route(const error_route &) = delete;
    error_route &operator=(const error_route &) = delete;

    // After each test: calls the handler of the operation's communicator, if that of another one would have
    // been called.
    void forward(int code, const call_facts &facts) noexcept {
        if (code != MPI_SUCCESS && is_active_) [[unlikely]]
            forward_slowly(code, facts);
    }

  private:
    void install() noexcept;
    void restore() noexcept;
    void forward_slowly(int code, const call_facts &facts) noexcept;

    const bool is_active_;
    MPI_Errhandler program_handler_ = MPI_ERRHANDLER_NULL;
};

} // namespace fult::mpi
