// The threads that run OpenMP tasks: the runtime's workers, started by the first region, and foreign threads.
#pragma once

#include <functional>

#include "omp_task.hpp"

namespace fult::omp {

// Starts the runtime if none is running, with at least `threads` workers, or gets the running one as many as
// it can have; the workers that there are stay. The initial thread of the process becomes worker 0; for a
// foreign thread, all workers are new threads. The caller has counted the region that they are for. Waits
// where a runtime of the program's own ends. Returns the number of workers; 0 if no runtime can be started
// here (after a fork): the region is serial.
unsigned ensure_workers(unsigned threads);
// More of them, as far as the running runtime is this library's and can get more. Returns their number.
unsigned add_workers(unsigned threads) noexcept;
std::size_t stack_size_of_threads() noexcept;
unsigned started_workers() noexcept; // without starting them; 0: there are none that this process can use
void release_workers() noexcept;     // ends the runtime if it is this library's and no task can be running
// For a region of one: starts workers on the initial thread alone, where the region's tasks run deferred.
unsigned workers_for_one();
bool runtime_is_own() noexcept; // the running one is this library's, not the program's
// True if worker 0 is the initial thread, which may be blocked in a call: no other thread's team has members
// there.
bool worker_0_may_block() noexcept;

bool is_initial_thread() noexcept; // of the process
// True in the initial task of a thread of the program: a foreign thread, or the one that started the runtime.
// False in a task of the C++ or C interface.
bool is_thread_of_program() noexcept;

// Of a thread that has ended, after its last descendant.
void delete_initial_task(omp_task *f) noexcept;

thread_state *worker_thread(unsigned worker);
// Of all workers that there have been, in this runtime and in earlier ones.
void for_each_worker_state(const std::function<void(thread_state &)> &each);
thread_state *this_thread() noexcept; // of the calling thread; makes one for a foreign thread

} // namespace fult::omp

// For other libraries whose programs need a runtime, as MPI's: starts one that regions of the usual size can
// use. Does nothing if one runs.
extern "C" void fult_omp_start_runtime();
