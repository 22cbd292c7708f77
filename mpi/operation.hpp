// One blocking MPI call while it is under way. It lies on the stack of the task or thread that calls.
//
// States: waiting to be started (in the queue of the entry_lock, or new), under way, complete. Each change is
// made under the entry_lock; whichever thread holds it acts for all.
#pragma once

#include <algorithm>

#include <fult/detail/assertion.hpp>
#include <fult/detail/waiter.hpp>

#include "abi.hpp"
#include "facts.hpp"

namespace fult::mpi {

class operation;

// One request of an operation.
struct part {
    MPI_Request handle = MPI_REQUEST_NULL;
    MPI_Status *status = MPI_STATUS_IGNORE; // of the program
    MPI_Request *home = nullptr;            // the program's own copy of the handle, where it has one
    operation *of = nullptr;                // null: complete

    // The first of its operation that is not complete.
    bool is_first_left() const noexcept;
};

class operation {
  public:
    static constexpr unsigned max_parts = 2;

    explicit operation(const call_facts &facts) noexcept : facts(facts) {}
    operation(const operation &) = delete;
    operation &operator=(const operation &) = delete;

    // Under the lock, once: calls MPI's nonblocking form, and adds its requests. An error code of MPI's ends
    // the operation.
    virtual int start() noexcept { return MPI_SUCCESS; }
    // Under the lock, after start, for an operation without parts: whether it is complete, possibly by an
    // error.
    virtual bool test() noexcept { return true; }

    // Without the lock: its caller, or what else waits for it, goes on. The operation may be gone afterwards.
    virtual void notify() noexcept { caller.grant(); }

    void add(MPI_Request handle, MPI_Status *status, MPI_Request *home = nullptr) noexcept {
        FULT_ASSERT(count < max_parts);
        parts[count++] = {handle, status, home, this};
        ++parts_left;
    }
    // A part is complete. True if the operation is.
    bool end_part(part &which, int code) noexcept {
        FULT_ASSERT(which.of == this && parts_left != 0);
        if (which.home)
            *which.home = which.handle;
        if (error == MPI_SUCCESS)
            error = code;
        which.of = nullptr;
        return --parts_left == 0;
    }

    const call_facts facts;
    part parts[max_parts];
    unsigned count = 0;
    unsigned parts_left = 0;
    int error = MPI_SUCCESS;
    operation *next =
        nullptr; // in the queue of the lock, then in that of tested_operations or completed_operations
    fult::detail::waiter caller{fult::detail::waiter::as_it_comes{}};

  protected:
    ~operation() = default;
};

inline bool part::is_first_left() const noexcept {
    return of &&
           std::find_if(of->parts, of->parts + of->count, [](const part &each) { return each.of; }) == this;
}

} // namespace fult::mpi
