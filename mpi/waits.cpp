// Waits for requests that the program has started.
#include <atomic>

#include "calls.hpp"
#include "own.hpp"

namespace fult::mpi::own {
namespace {

std::atomic<bool> persistent_collectives{false};

// MPI_Wait: as if the call had started the program's request itself.
class request_wait final : public operation {
  public:
    request_wait(MPI_Request *request, MPI_Status *status) noexcept
        : operation({.name = "MPI_Wait"}), request_(request), status_(status) {}

    int start() noexcept override {
        add(*request_, status_, request_);
        return MPI_SUCCESS;
    }

  private:
    MPI_Request *request_;
    MPI_Status *status_;
};

// Looks at one request after the other. When all are complete, MPI's call ends at once, and reports the
// errors.
int wait_for_each(int count, MPI_Request requests[], MPI_Status *statuses) noexcept {
    int complete = 0;
    return run_by_testing({.name = "MPI_Waitall"}, [=](int *flag) mutable {
        for (; complete < count; ++complete) {
            int is_complete = 0;
            const int code =
                FULT_BELOW(Request_get_status)(requests[complete], &is_complete, MPI_STATUS_IGNORE);
            if (code == MPI_SUCCESS && !is_complete)
                return MPI_SUCCESS;
        }
        *flag = 1;
        return FULT_BELOW(Waitall)(count, requests, statuses);
    });
}

} // namespace

int Wait(MPI_Request *request, MPI_Status *status) {
    request_wait op(request, status);
    return the_engine().run(op);
}

// The forms that test report errors as those that wait.

void made_a_persistent_collective() noexcept {
    persistent_collectives.store(true, std::memory_order_relaxed);
}

int Waitall(int count, MPI_Request requests[], MPI_Status *statuses) {
    if (persistent_collectives.load(std::memory_order_relaxed)) [[unlikely]]
        return wait_for_each(count, requests, statuses);
    return run_by_testing({.name = "MPI_Waitall"},
                          [=](int *flag) { return FULT_BELOW(Testall)(count, requests, flag, statuses); });
}

int Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    return run_by_testing({.name = "MPI_Waitany"}, [=](int *flag) {
        return FULT_BELOW(Testany)(count, requests, index, flag, status);
    });
}

// MPI_UNDEFINED, where no request is active, ends the wait too.
int Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
    return run_by_testing({.name = "MPI_Waitsome"}, [=](int *flag) {
        *outcount = 0;
        const int code = FULT_BELOW(Testsome)(incount, requests, outcount, indices, statuses);
        *flag = *outcount != 0;
        return code;
    });
}

} // namespace fult::mpi::own
