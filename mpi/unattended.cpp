// fult/mpi.h: operations that no call waits for.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "engine.hpp"
#include "mpi/include/fult/mpi.h"

using namespace fult::mpi;

namespace {

// One that has been given away, until it is complete.
class unattended_wait : public operation {
  public:
    unattended_wait() noexcept : operation({.name = "fult_mpi_on_completion"}) {}

    void take(MPI_Request &request, MPI_Status *status) noexcept {
        request_ = std::exchange(request, MPI_REQUEST_NULL);
        status_ = status;
    }

    int start() noexcept override {
        add(request_, status_);
        return MPI_SUCCESS;
    }

  protected:
    ~unattended_wait() = default;
    void store_error() noexcept {
        if (status_ != MPI_STATUS_IGNORE)
            status_->MPI_ERROR = error;
    }

  private:
    MPI_Request request_ = MPI_REQUEST_NULL;
    MPI_Status *status_ = MPI_STATUS_IGNORE;
};

// Owns itself.
class single_wait final : public unattended_wait {
  public:
    single_wait(fult_mpi_done done, std::uintptr_t argument) noexcept : done_(done), argument_(argument) {}

    void notify() noexcept override {
        const std::unique_ptr<single_wait> own(this);
        store_error();
        done_(argument_);
    }

  private:
    const fult_mpi_done done_;
    const std::uintptr_t argument_;
};

// Of several requests. The last that ends calls done(argument) and deletes all.
class several_waits {
  public:
    // Throws std::bad_alloc.
    several_waits(std::size_t count, fult_mpi_done done, std::uintptr_t argument)
        : all_(new each[count]), left_(count + 1), done_(done), argument_(argument) {}

    // It may be gone afterwards.
    void begin(std::span<MPI_Request> requests, MPI_Status *statuses) noexcept {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            all_[i].whole = this;
            all_[i].take(requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i);
            the_engine().run_unattended(all_[i]);
        }
        end_one(); // which none of those can be the last before
    }

  private:
    struct each final : unattended_wait {
        void notify() noexcept override {
            store_error();
            whole->end_one();
        }
        several_waits *whole = nullptr;
    };

    void end_one() noexcept {
        const std::size_t left =
            left_.fetch_sub(1, std::memory_order_acq_rel); // all statuses are written before the call
        FULT_ASSERT(left != 0, "each ends once");
        if (left != 1)
            return;
        const std::unique_ptr<several_waits> own(this);
        done_(argument_);
    }

    const std::unique_ptr<each[]> all_;
    std::atomic<std::size_t> left_;
    const fult_mpi_done done_;
    const std::uintptr_t argument_;
};

} // namespace

FULT_API int fult_mpi_on_completion_of_all(int count, MPI_Request requests[], MPI_Status statuses[],
                                           fult_mpi_done done, uintptr_t argument) {
    try {
        const auto size = static_cast<std::size_t>(count);
        (new several_waits(size, done, argument))->begin({requests, size}, statuses);
        return MPI_SUCCESS;
    } catch (const std::bad_alloc &) {
        return MPI_ERR_NO_MEM;
    }
}

FULT_API int fult_mpi_on_completion(MPI_Request *request, MPI_Status *status, fult_mpi_done done,
                                    uintptr_t argument) {
    auto *const wait = new (std::nothrow) single_wait(done, argument);
    if (!wait)
        return MPI_ERR_NO_MEM;
    wait->take(*request, status);
    the_engine().run_unattended(*wait);
    return MPI_SUCCESS;
}
