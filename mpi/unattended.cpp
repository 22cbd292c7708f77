// fult/mpi.h: operations that no call waits for.
#include <cstdint>
#include <memory>
#include <new>

#include <fult/detail/platform.hpp>

#include "engine.hpp"
#include "mpi/include/fult/mpi.h"

using namespace fult::mpi;

namespace {

// Owns the request, and itself.
class unattended_wait final : public operation {
  public:
    unattended_wait(MPI_Request request, MPI_Status *status, fult_mpi_done done,
                    std::uintptr_t argument) noexcept
        : operation({.name = "fult_mpi_on_completion"}),
          request_(request),
          status_(status),
          done_(done),
          argument_(argument) {}

    int start() noexcept override {
        add(request_, status_);
        return MPI_SUCCESS;
    }
    void notify() noexcept override {
        const std::unique_ptr<unattended_wait> own(this);
        if (status_ != MPI_STATUS_IGNORE)
            status_->MPI_ERROR = error;
        done_(argument_);
    }

  private:
    MPI_Request request_;
    MPI_Status *status_;
    fult_mpi_done done_;
    std::uintptr_t argument_;
};

} // namespace

FULT_API int fult_mpi_on_completion(MPI_Request *request, MPI_Status *status, fult_mpi_done done,
                                    uintptr_t argument) {
    auto *const op = new (std::nothrow) unattended_wait(*request, status, done, argument);
    if (!op)
        return MPI_ERR_NO_MEM;
    *request = MPI_REQUEST_NULL;
    the_engine().run_unattended(*op);
    return MPI_SUCCESS;
}
