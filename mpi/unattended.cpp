// fult/mpi.h: operations that no call waits for.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "engine.hpp"
#include "mpi/include/fult/mpi.h"

using namespace fult::mpi;

namespace {

// Calls done(argument) when the last of several has ended.
class last_call {
  public:
    last_call(std::size_t count, fult_mpi_done done, std::uintptr_t argument) noexcept
        : left_(count), done_(done), argument_(argument) {}

    void end_one() noexcept {
        const std::size_t left =
            left_.fetch_sub(1, std::memory_order_acq_rel); // all statuses are written before the call
        FULT_ASSERT(left != 0, "each ends once");
        if (left != 1)
            return;
        const std::unique_ptr<last_call> own(this);
        done_(argument_);
    }

  private:
    std::atomic<std::size_t> left_;
    const fult_mpi_done done_;
    const std::uintptr_t argument_;
};

// Owns the request, and itself.
class unattended_wait final : public operation {
  public:
    unattended_wait(MPI_Request request, MPI_Status *status, last_call &calls) noexcept
        : operation({.name = "fult_mpi_on_completion"}), request_(request), status_(status), calls_(calls) {}

    int start() noexcept override {
        add(request_, status_);
        return MPI_SUCCESS;
    }
    void notify() noexcept override {
        const std::unique_ptr<unattended_wait> own(this);
        if (status_ != MPI_STATUS_IGNORE)
            status_->MPI_ERROR = error;
        calls_.end_one();
    }

  private:
    MPI_Request request_;
    MPI_Status *status_;
    last_call &calls_;
};

// All that several waits need, before the first one begins. Throws std::bad_alloc.
std::vector<std::unique_ptr<unattended_wait>> waits_for(std::span<const MPI_Request> requests,
                                                        MPI_Status *statuses, last_call &calls) {
    std::vector<std::unique_ptr<unattended_wait>> all;
    all.reserve(requests.size());
    for (const MPI_Request each : requests) {
        MPI_Status *const status =
            statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + all.size();
        all.push_back(std::make_unique<unattended_wait>(each, status, calls));
    }
    return all;
}

void begin_waits(std::span<MPI_Request> requests, MPI_Status *statuses, fult_mpi_done done,
                 std::uintptr_t argument) {
    auto calls = std::make_unique<last_call>(requests.size() + 1, done, argument);
    auto all = waits_for(requests, statuses, *calls);
    FULT_ASSERT(all.size() == requests.size());
    last_call &until_begun = *calls.release(); // its last end deletes it
    for (std::size_t i = 0; i < all.size(); ++i) {
        requests[i] = MPI_REQUEST_NULL;
        the_engine().run_unattended(*all[i].release());
    }
    until_begun.end_one();
}

} // namespace

FULT_API int fult_mpi_on_completion_of_all(int count, MPI_Request requests[], MPI_Status statuses[],
                                           fult_mpi_done done, uintptr_t argument) {
    try {
        begin_waits({requests, static_cast<std::size_t>(count)}, statuses, done, argument);
        return MPI_SUCCESS;
    } catch (const std::bad_alloc &) {
        return MPI_ERR_NO_MEM;
    }
}

FULT_API int fult_mpi_on_completion(MPI_Request *request, MPI_Status *status, fult_mpi_done done,
                                    uintptr_t argument) {
    return fult_mpi_on_completion_of_all(
        1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, done, argument);
}
