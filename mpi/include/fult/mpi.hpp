/// @file
/// MPI requests as futures: a task goes on, and waits for the completion later. For programs that are linked
/// with fult-mpi (docs/mpi.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <fult/mpi.h>
#include <fult/sync/future.hpp>

namespace fult::mpi {
namespace detail {

// Lives until the requests are complete.
class awaited_requests {
  public:
    awaited_requests(std::size_t count, MPI_Status *to) : statuses_(count), to_(to) {}

    future<int> get_future() { return promise_.get_future(); }
    MPI_Status *statuses() noexcept { return statuses_.data(); }

    // A fult_mpi_done.
    static void end_one(std::uintptr_t argument) { end(argument, false); }
    static void end_all(std::uintptr_t argument) { end(argument, true); }

  private:
    static void end(std::uintptr_t argument, bool several) {
        const std::unique_ptr<awaited_requests> own(reinterpret_cast<awaited_requests *>(argument));
        const auto failed =
            std::find_if(own->statuses_.begin(), own->statuses_.end(),
                         [](const MPI_Status &each) { return each.MPI_ERROR != MPI_SUCCESS; });
        if (own->to_)
            std::copy(own->statuses_.begin(), own->statuses_.end(), own->to_);
        int error = MPI_SUCCESS;
        if (failed != own->statuses_.end())
            error = several ? MPI_ERR_IN_STATUS : failed->MPI_ERROR;
        own->promise_.set_value(error);
    }

    promise<int> promise_;
    std::vector<MPI_Status> statuses_;
    MPI_Status *to_; // of the program; null: ignored
};

} // namespace detail

/// The future is ready when the request is complete; its value is what MPI_Wait would return. The request is
/// MPI_REQUEST_NULL afterwards: the layer owns it. The status, if it is not ignored, must remain until then,
/// and has the error in MPI_ERROR, too. Throws std::bad_alloc: then the request is still the program's. From
/// any task or thread between MPI_Init and MPI_Finalize; does not suspend. TAMPI has a call of this name
/// (Sala and others, 2019).
inline future<int> iwait(MPI_Request &request, MPI_Status *status = MPI_STATUS_IGNORE) {
    auto all = std::make_unique<detail::awaited_requests>(1, status == MPI_STATUS_IGNORE ? nullptr : status);
    future<int> result = all->get_future();
    if (fult_mpi_on_completion(&request, all->statuses(), &detail::awaited_requests::end_one,
                               reinterpret_cast<std::uintptr_t>(all.get())) != MPI_SUCCESS)
        throw std::bad_alloc();
    all.release(); // its end may have deleted it already
    return result;
}

/// The same for several requests, some of which may be MPI_REQUEST_NULL: ready when all are complete, and the
/// value is what MPI_Waitall would return. There is a status for each request, or they are ignored.
inline future<int> iwait(std::span<MPI_Request> requests, MPI_Status *statuses = MPI_STATUSES_IGNORE) {
    auto all = std::make_unique<detail::awaited_requests>(
        requests.size(), statuses == MPI_STATUSES_IGNORE ? nullptr : statuses);
    future<int> result = all->get_future();
    if (fult_mpi_on_completion_of_all(static_cast<int>(requests.size()), requests.data(), all->statuses(),
                                      &detail::awaited_requests::end_all,
                                      reinterpret_cast<std::uintptr_t>(all.get())) != MPI_SUCCESS)
        throw std::bad_alloc();
    all.release();
    return result;
}

} // namespace fult::mpi
