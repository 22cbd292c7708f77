// The ways in which a call of the program reaches MPI. wrappers.py chooses one for each function of mpi.h.
#pragma once

#include <system_error>

#include <fult/blocking.hpp>
#include <fult/detail/service.hpp>
#include <fult/detail/waiter.hpp>

#include "below.hpp"
#include "engine.hpp"
#include "level.hpp"

namespace fult::mpi {

// A blocking call that has a nonblocking form: start(&request) calls that.
template <class Start> class request_operation final : public operation {
  public:
    request_operation(const call_facts &facts, MPI_Status *status, Start start) noexcept
        : operation(facts), status_(status), start_(start) {}

    int start() noexcept override {
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = start_(&request);
        if (code == MPI_SUCCESS)
            add(request, status_);
        return code;
    }

  private:
    MPI_Status *status_;
    Start start_;
};
template <class Start> int run_as_request(const call_facts &facts, MPI_Status *status, Start start) noexcept {
    request_operation<Start> op(facts, status, start);
    return the_engine().run(op);
}

// One that has only a form that tries: test(&flag) calls that.
template <class Test> class tested_operation final : public operation {
  public:
    tested_operation(const call_facts &facts, Test test) noexcept : operation(facts), test_(test) {}

    bool test() noexcept override {
        int flag = 0;
        error = test_(&flag);
        return flag || error != MPI_SUCCESS;
    }

  private:
    Test test_;
};
template <class Test> int run_by_testing(const call_facts &facts, Test test) noexcept {
    tested_operation<Test> op(facts, test);
    return the_engine().run(op);
}

// A call that does not wait for other ranks.
template <class Call> int call_locked(Call call) noexcept {
    const engine::entry here(the_engine());
    return call();
}

// A call that a program repeats until it succeeds: `succeeded` is read after it. Now and then other tasks
// run, and the processor is given up: what is missing may depend on them. May suspend.
template <class Call> int call_and_poll(const int *succeeded, Call call) noexcept {
    const int code = call_locked(call);
    if (code == MPI_SUCCESS && *succeeded == 0 && !the_engine().is_inside_mpi()) {
        the_engine().poll();
        fult::detail::let_others_run_sometimes();
        yield_if_crowded();
    }
    return code;
}

// A call that may wait for other ranks and has no other form: on a thread of run_blocking(), beside all
// others.
template <class Call> int call_on_thread(const char *name, Call call) noexcept {
    if (the_engine().is_inside_mpi())
        return call();
    if (!is_multiple()) {
        if (in_task())
            refuse_in_task(name);
        return call_locked(call);
    }
    try {
        return fult::run_blocking(call);
    } catch (const std::system_error &) { // no thread can be started: the worker waits
        return call();
    }
}

// The same for a call that makes a window (1) or frees it (-1).
template <class Call> int call_on_thread_for_window(const char *name, int difference, Call call) noexcept {
    const int code = call_on_thread(name, call);
    if (code == MPI_SUCCESS)
        the_engine().count_window(difference);
    return code;
}

} // namespace fult::mpi
